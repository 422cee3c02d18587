#include "litmus_kernel.hpp"

#include <bit>
#include <sstream>
#include <stdexcept>

#include "tested_target.hpp"

namespace softgpu::litmus {
namespace {

// Registers:
//   s3 thread               s[4:5] its arguments             s[8:11] the variables' addresses in this round
//   s[16:31] the arguments  s[32:39] the buffers' descriptors
//   s40 round               s41 offset of its slot           s42 its hash            s43, s44 temporary
//   s46 the round's value
//   v1 lane * progress_stride   v2, v3 lane offsets          v[4:7] addresses        v[8:11] what is stored
//   v[12:27] what was loaded    v28 offset in the results    v29, v30 temporary
constexpr unsigned first_result = 12;
constexpr unsigned registers_per_result = 4;

std::string set_exec(const std::string& mask, const std::string& half) {
  return isa::tests_wave32() ? "  s_mov_b32 exec_lo, " + half + "\n" : "  s_mov_b64 exec, " + mask + "\n";
}
std::string set_exec(unsigned mask) { return set_exec(std::to_string(mask), std::to_string(mask)); }

AddressRegisters address_registers(const Setup& setup, unsigned variable) {
  return {.vector = setup.memory == Memory::global_with_base || setup.memory == Memory::buffer ? 4 : 4 + 2 * variable,
          .scalar = 8 + 2 * variable,
          .descriptor = 32 + 4 * variable,
          .scalar_offset = 41};
}

/// The kernel of one setup.
class KernelText {
public:
  explicit KernelText(const Setup& setup) : setup_(setup) {}

  std::string text() {
    prologue();
    for (unsigned thread = setup_.first_device_thread(); is_device_thread(thread); ++thread)
      text_ << "  s_cmp_eq_u32 s3, " << thread << "\n  s_cbranch_scc1 thread_" << thread << "\n";
    text_ << "  s_endpgm\n";
    for (unsigned thread = setup_.first_device_thread(); is_device_thread(thread); ++thread) emit_thread(thread);
    return text_.str();
  }

private:
  [[nodiscard]] bool is_device_thread(unsigned thread) const {
    if (setup_.side == Side::lane) return thread == 0;
    return thread < setup_.test->threads.size() && !setup_.is_on_host(thread);
  }
  [[nodiscard]] std::string current_value_hints() const {
    return load_sequence(Memory::global, Order::relaxed, Scope::system).hints;
  }

  /// Takes a moment; loads behind it are made again.
  [[nodiscard]] static std::string pause_code() { return fence_sequence(Order::acquire, Scope::agent); }

  void prologue();
  void descriptors();
  void emit_thread(unsigned thread);
  void meet_others(unsigned thread);
  void wait_asleep(unsigned thread);
  void wait_awake(unsigned thread);
  void wait_again_if_behind(unsigned thread);
  void be_late(unsigned thread);
  void round_values();
  void addresses(unsigned offset_register);
  void emit_events(const Events& events);
  void sleep_now_and_then();
  void emit_event(const Event& event);
  void emit_store(const Event& event);
  void results();

  const Setup& setup_;
  std::ostringstream text_;
  unsigned loads_ = 0;   ///< of the thread, so far
  unsigned labels_ = 0;  ///< used so far
  unsigned sleeps_ = 0;  ///< places of the thread where it may sleep, so far
};

void KernelText::prologue() {
  text_ << "  v_and_b32_e32 v30, " << lanes() - 1 << ", v0\n"
        << "  v_lshrrev_b32_e32 v29, " << std::countr_zero(lanes()) << ", v0\n";
  if (setup_.side == Side::wavefront)
    text_ << "  v_readfirstlane_b32 s3, v29\n";
  else
    text_ << "  s_add_u32 s3, s2, " << setup_.first_device_thread() << "\n";
  text_ << "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
        << "  s_lshl_b32 s6, s3, " << std::countr_zero(sizeof(ThreadArguments)) << "\n"
        << "  s_waitcnt lgkmcnt(0)\n"
        << "  s_add_u32 s4, s4, s6\n"
        << "  s_addc_u32 s5, s5, 0\n"
        << "  s_load_dwordx16 s[16:31], s[4:5], 0x0\n"
        << "  v_lshlrev_b32_e32 v1, " << std::countr_zero(progress_stride) << ", v30\n"
        << "  v_lshlrev_b32_e32 v28, " << std::countr_zero(setup_.element.result_bytes()) << ", v30\n"
        << "  v_lshlrev_b32_e32 v29, 2, v30\n"
        << "  s_mov_b32 s40, 0\n"
        << "  s_waitcnt lgkmcnt(0)\n"
        << "  global_load_dword v2, v29, s[24:25]\n"
        << "  global_load_dword v3, v29, s[24:25] offset:" << lane_offsets_stride << "\n"
        << "  s_waitcnt vmcnt(0)\n";
  if (setup_.memory == Memory::buffer) descriptors();
}

/// Raw buffers as large as can be.
void KernelText::descriptors() {
  const std::uint32_t major = isa::tested_target().architecture->major;
  const char* format = major == 9 ? "0x00027000" : major == 10 ? "0x31016000" : "0x31004000";
  for (unsigned variable = 0; variable < variable_count; ++variable) {
    const unsigned first = address_registers(setup_, variable).descriptor;
    text_ << "  s_mov_b32 s" << first << ", s" << 16 + 2 * variable << "\n"
          << "  s_and_b32 s" << first + 1 << ", s" << 17 + 2 * variable << ", 0xffff\n"
          << "  s_mov_b32 s" << first + 2 << ", -1\n"
          << "  s_mov_b32 s" << first + 3 << ", " << format << "\n";
  }
}

void KernelText::emit_thread(unsigned thread) {
  loads_ = sleeps_ = 0;
  text_ << "thread_" << thread << ":\n";
  if (setup_.side != Side::lane) meet_others(thread);
  text_ << set_exec("s[26:27]", "s26");
  round_values();
  text_ << "  s_add_u32 s42, s40, s30\n  s_mul_i32 s42, s42, 0x" << std::hex << round_hash(1, 0, thread) << std::dec
        << "\n";
  if (setup_.side == Side::lane) {  // all threads in turn, each on the variables of another lane
    for (unsigned part = 0; part < setup_.test->threads.size(); ++part) {
      addresses(2 + part);
      emit_events(setup_.test->threads[part]);
    }
  } else {
    addresses(2);
    if (setup_.side != Side::wavefront) be_late(thread);
    emit_events(setup_.test->threads[thread]);
  }
  results();
  text_ << "  s_add_u32 s40, s40, 1\n"
        << "  s_cmp_lt_u32 s40, s28\n"
        << "  s_cbranch_scc1 thread_" << thread << "\n"
        << "  s_endpgm\n";
}

void KernelText::meet_others(unsigned thread) {
  text_ << "  s_and_b32 s43, s40, s31\n"
        << "  s_cmp_lg_u32 s43, 0\n"
        << "  s_cbranch_scc1 met_" << thread << "\n"
        << set_exec(1) << "  s_add_u32 s43, s40, 1\n"
        << "  v_mov_b32_e32 v30, s43\n"
        << "  v_mov_b32_e32 v29, 0x" << std::hex << thread * progress_stride << std::dec << "\n"
        << "  global_store_dword v29, v30, s[22:23]\n"
        << set_exec((1U << setup_.test->threads.size()) - 1) << "wait_" << thread << ":\n";
  setup_.side == Side::wavefront ? wait_asleep(thread) : wait_awake(thread);
  text_ << "met_" << thread << ":\n";
}

/// In the same work-group: the others go on where this one sleeps.
void KernelText::wait_asleep(unsigned thread) {
  text_ << "  s_sleep 1\n"
        << "  global_load_dword v30, v1, s[22:23]" << current_value_hints() << "\n";
  wait_again_if_behind(thread);
}

/// A load of a current value gives the core away now and then, for much longer than a round takes. So most loads here
/// are plain ones.
void KernelText::wait_awake(unsigned thread) {
  constexpr unsigned loads_in_a_row = 64;
  text_ << "  s_movk_i32 s44, " << loads_in_a_row << "\n"
        << "watch_" << thread << ":\n"
        << "  global_load_dword v30, v1, s[22:23]\n"
        << wait_for_loads() << pause_code() << "  v_cmp_gt_u32_e32 " << isa::vcc_text() << ", s43, v30\n"
        << "  s_cbranch_vccz met_" << thread << "\n"
        << "  s_sub_u32 s44, s44, 1\n"
        << "  s_cmp_lg_u32 s44, 0\n"
        << "  s_cbranch_scc1 watch_" << thread << "\n"
        << "  global_load_dword v30, v1, s[22:23]" << current_value_hints() << "\n";
  wait_again_if_behind(thread);
}

/// Where another thread has not reached the round.
void KernelText::wait_again_if_behind(unsigned thread) {
  text_ << wait_for_loads() << "  v_cmp_gt_u32_e32 " << isa::vcc_text() << ", s43, v30\n"
        << "  s_cbranch_vccnz wait_" << thread << "\n";
}

/// The lateness is a few pauses, by the round's hash.
void KernelText::be_late(unsigned thread) {
  text_ << "  s_lshr_b32 s43, s42, " << 32 - delay_bits << "\n"
        << "late_" << thread << ":\n"
        << "  s_cmp_eq_u32 s43, 0\n"
        << "  s_cbranch_scc1 begin_" << thread << "\n"
        << pause_code() << "  s_sub_u32 s43, s43, 1\n"
        << "  s_branch late_" << thread << "\n"
        << "begin_" << thread << ":\n";
}

void KernelText::round_values() {
  text_ << "  s_mul_i32 s41, s40, s29\n"
        << "  s_mov_b32 s46, s30\n";
  if (setup_.test->values == Values::flags) return;
  text_ << "  s_add_u32 s46, s46, s40\n"
        << "  s_add_u32 s46, s46, 1\n";
  if (setup_.test->values == Values::counters || setup_.element.bytes > 4) return;
  const char* digits = setup_.element.bytes == 4 ? "0xffff" : setup_.element.bytes == 2 ? "0xff" : "0xf";
  const char* halves = setup_.element.bytes == 4 ? "0x10001" : setup_.element.bytes == 2 ? "0x101" : "0x11";
  text_ << "  s_and_b32 s46, s46, " << digits << "\n"
        << "  s_mul_i32 s46, s46, " << halves << "\n";
}

/// The variables' addresses for one thread. The arena does not cross a multiple of 4 GiB: there is no carry.
void KernelText::addresses(unsigned offset_register) {
  if (setup_.memory == Memory::buffer || setup_.memory == Memory::global_with_base)
    text_ << "  v_mov_b32_e32 v4, v" << offset_register << "\n";
  for (unsigned variable = 0; variable < variable_count; ++variable) {
    const AddressRegisters at = address_registers(setup_, variable);
    const unsigned argument = 16 + 2 * variable;
    text_ << "  s_add_u32 s" << at.scalar << ", s" << argument << ", s41\n"
          << "  s_addc_u32 s" << at.scalar + 1 << ", s" << argument + 1 << ", 0\n";
    if (setup_.memory == Memory::buffer || setup_.memory == Memory::global_with_base) continue;
    text_ << "  v_add3_u32 v" << at.vector << ", v" << offset_register << ", s" << at.scalar << ", 0\n"
          << "  v_mov_b32_e32 v" << at.vector + 1 << ", s" << at.scalar + 1 << "\n";
  }
}

void KernelText::emit_events(const Events& events) {
  for (const Event& event : events) {
    if (setup_.side == Side::wavefront) sleep_now_and_then();
    emit_event(event);
  }
}

/// The wavefronts of a work-group share a thread: only where one sleeps does another go on for certain.
void KernelText::sleep_now_and_then() {
  const unsigned label = labels_++;
  text_ << "  s_bitcmp1_b32 s42, " << 20 + sleeps_++ << "\n"
        << "  s_cbranch_scc0 awake_" << label << "\n"
        << "  s_sleep 1\n"
        << "awake_" << label << ":\n";
}

void KernelText::emit_event(const Event& event) {
  switch (event.kind) {
  case Event::Kind::load: {
    const Sequence sequence = load_sequence(setup_.memory, event.order, setup_.scope);
    const unsigned destination = first_result + registers_per_result * loads_++;
    text_ << sequence.before
          << load_text(setup_.memory, setup_.element, destination, address_registers(setup_, event.variable),
                       sequence.hints)
          << sequence.after;
    break;
  }
  case Event::Kind::store:
    emit_store(event);
    break;
  case Event::Kind::fence:
    text_ << fence_sequence(event.order, setup_.scope);
    break;
  }
}

void KernelText::emit_store(const Event& event) {
  if (setup_.test->values == Values::flags)
    text_ << "  s_add_u32 s43, s46, " << event.value << "\n";
  else
    text_ << "  s_mov_b32 s43, s46\n";
  for (unsigned dword = 0; dword < setup_.element.dwords(); ++dword)
    text_ << "  v_mov_b32_e32 v" << 8 + dword << ", s43\n";
  const Sequence sequence = store_sequence(setup_.memory, event.order, setup_.scope);
  text_ << sequence.before
        << store_text(setup_.memory, setup_.element, 8, address_registers(setup_, event.variable), sequence.hints)
        << sequence.after;
}

void KernelText::results() {
  if (loads_ == 0) return;
  if (loads_ > 2 && setup_.side != Side::lane) throw std::runtime_error("a litmus test's thread has too many loads");
  const std::uint32_t row = lanes() * setup_.element.result_bytes();
  const Element stored{setup_.element.result_bytes()};
  text_ << wait_for_loads();
  for (unsigned i = 0; i < loads_; ++i) {
    text_ << store_text(Memory::global_with_base, stored, first_result + registers_per_result * i,
                        {.vector = 28, .scalar = 20, .descriptor = 0, .scalar_offset = 0}, "")
          << "  s_add_u32 s20, s20, " << row << "\n"
          << "  s_addc_u32 s21, s21, 0\n";
  }
}

}  // namespace

std::uint32_t lanes() { return isa::tested_target().wavefront_size; }

std::string kernel_text(const Setup& setup) {
  const std::string text = KernelText(setup).text();
  const auto spelled = isa::spelled_for_target(text);
  if (!spelled) throw std::runtime_error("the litmus test's kernel does not assemble:\n" + text);
  return *spelled;
}

}  // namespace softgpu::litmus
