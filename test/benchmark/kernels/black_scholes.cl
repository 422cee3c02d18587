FUNCTION float normal_distribution(float x) {
  const float k = 1 / (1 + 0.2316419f * fabs(x));
  const float tail = 0.39894228f * exp(-0.5f * x * x) * k *
                     (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  return x < 0 ? tail : 1 - tail;
}

__kernel GROUP(256, 1) void black_scholes(__global const float* prices, __global const float* strikes,
                                        __global const float* years, __global float* calls, __global float* puts) {
  const uint i = get_global_id(0);
  const float price = prices[i], strike = strikes[i], time = years[i], rate = 0.02f, volatility = 0.3f;
  const float root = volatility * sqrt(time);
  const float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * time) / root;
  const float d2 = d1 - root;
  const float discounted = strike * exp(-rate * time);
  calls[i] = price * normal_distribution(d1) - discounted * normal_distribution(d2);
  puts[i] = discounted * normal_distribution(-d2) - price * normal_distribution(-d1);
}
