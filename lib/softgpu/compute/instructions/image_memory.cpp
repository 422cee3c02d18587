// MIMG: images, with and without a sampler. The run-time functions do the work, lane by lane.
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/memory_formats.hpp"
#include "softgpu/compute/run_time/image_access.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using runtime::ComponentWidth;
using runtime::ImageAccess;
using runtime::ImageDescriptors;
using runtime::ImageDimension;

/// The operands by their roles: data, addresses (of which there may be several), image, sampler.
struct ImageOperands {
  const Operand* data;
  std::vector<const Operand*> addresses;
  const Operand* resource;
  const Operand* sampler;  ///< null: none
};

ImageOperands image_operands(Emitter& e, const Instruction& i) {
  ImageOperands found{.data = &i.operands.at(0), .addresses = {}, .resource = nullptr, .sampler = nullptr};
  std::size_t next = 1;
  for (; next < i.operands.size() && i.operands[next].is_vector(); ++next) found.addresses.push_back(&i.operands[next]);
  const auto descriptor = [&](unsigned dwords) -> const Operand* {
    if (next == i.operands.size()) return nullptr;
    const Operand& operand = i.operands[next++];
    if (!operand.is_scalar() || operand.dwords != dwords) e.unsupported("descriptor");
    return &operand;
  };
  found.resource = descriptor(8);
  found.sampler = descriptor(4);
  if (found.resource == nullptr || !found.data->is_vector()) e.unsupported("operand");
  return found;
}

/// GFX9's instructions do not tell it, nor how many registers have addresses: three coordinates are the most.
ImageDimension dimension_of(Emitter& e, const Instruction& i) {
  if (e.architecture().image_descriptors == ImageDescriptors::gfx9) return ImageDimension::three;
  constexpr std::pair<std::string_view, ImageDimension> names[] = {
      {"SQ_RSRC_IMG_1D", ImageDimension::one},
      {"SQ_RSRC_IMG_2D", ImageDimension::two},
      {"SQ_RSRC_IMG_3D", ImageDimension::three},
      {"SQ_RSRC_IMG_1D_ARRAY", ImageDimension::one_array},
      {"SQ_RSRC_IMG_2D_ARRAY", ImageDimension::two_array},
  };
  const auto word = i.word("dim");
  for (const auto& [name, dimension] : names)
    if (word == name) return dimension;
  e.unsupported("cube maps and images of several samples a texel");
}

/// The fields that all instructions have.
ImageAccess access_of(Emitter& e, const Instruction& i) {
  if (!e.architecture().has_images) e.unsupported("images of this architecture");
  ImageAccess access{.dimension = dimension_of(e, i),
                     .mask = static_cast<std::uint8_t>(i.number("dmask")),
                     .width = i.has("d16") ? ComponentWidth::half : ComponentWidth::full,
                     .level = ImageAccess::Level::zero,
                     .flags = 0,
                     .descriptors = e.architecture().image_descriptors};
  if (access.mask == 0) e.unsupported("an empty mask of components");
  if (i.has("unorm")) access.flags |= ImageAccess::unnormalized;
  if (i.has("a16")) access.flags |= ImageAccess::half_addresses;
  if (i.has("da")) access.flags |= ImageAccess::array;
  return access;
}

/// The registers with addresses, one after the other.
class AddressRegisters {
public:
  AddressRegisters(Emitter& e, const ImageOperands& operands) : e_(e), operands_(operands.addresses) {}

  /// Puts the next register, or its half that comes next, into WaveState.
  void take(unsigned place, bool is_half) {
    for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
      Value* value = dword(chunk);
      if (is_half) value = has_upper_ ? e_.ir.CreateLShr(value, 16) : e_.ir.CreateAnd(value, 0xffff);
      e_.ir.CreateAlignedStore(value, address_pointer(place, chunk), llvm::Align(64));
    }
    if (is_half && !has_upper_) {
      has_upper_ = true;
      return;
    }
    has_upper_ = false;
    ++next_;
  }
  /// A half that is left is of no use.
  void end_of_halves() {
    if (has_upper_) ++next_;
    has_upper_ = false;
  }

private:
  Value* dword(unsigned chunk) {
    unsigned number = next_;
    for (const Operand* operand : operands_) {
      if (number < operand->dwords) return e_.vector(*operand, chunk, number);
      number -= operand->dwords;
    }
    const bool may_be_fewer =
        e_.architecture().image_descriptors == ImageDescriptors::gfx9;  // behind the last register
    if (may_be_fewer) return e_.splat(0U);
    e_.unsupported("too few registers with addresses");
  }
  Value* address_pointer(unsigned place, unsigned chunk) {
    const std::size_t at = offsetof(WaveState, image_address) + 4 * (std::size_t{64} * place + lanes_per_chunk * chunk);
    return e_.ir.CreateConstInBoundsGEP1_64(e_.ir.getInt8Ty(), e_.state(), at);
  }

  Emitter& e_;
  const std::vector<const Operand*>& operands_;
  unsigned next_ = 0;
  bool has_upper_ = false;
};

/// Puts the addresses into WaveState, a dword each (RDNA2 ISA manual, "Image Addressing"; for the pairs of halves LLVM,
/// packImage16bitOpsToDwords in SIISelLowering.cpp).
void put_addresses(Emitter& e, const ImageOperands& operands, const ImageAccess& access) {
  AddressRegisters registers(e, operands);
  const bool are_halves = access.has(ImageAccess::half_addresses);
  for (unsigned place = 0; place < access.first_gradient(); ++place) registers.take(place, false);
  for (unsigned place = access.first_gradient(); place < access.first_coordinate(); ++place) {
    registers.take(place, access.has(ImageAccess::half_gradients));
    const bool ends_direction = (place - access.first_gradient() + 1) % access.axes() == 0;
    if (ends_direction) registers.end_of_halves();
  }
  for (unsigned place = access.first_coordinate(); place < access.addresses(); ++place)
    registers.take(place, are_halves);
}

void put_descriptor(Emitter& e, const Operand& operand, std::size_t field) {
  for (unsigned n = 0; n < operand.dwords; ++n)
    e.ir.CreateStore(e.sgpr(operand.index + n),
                     e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), field + std::size_t{4} * n));
}

void put_operands(Emitter& e, const ImageOperands& operands, const ImageAccess& access) {
  put_addresses(e, operands, access);
  put_descriptor(e, *operands.resource, offsetof(WaveState, image_resource));
  if (operands.sampler != nullptr) put_descriptor(e, *operands.sampler, offsetof(WaveState, image_sampler));
}

template <class Function>
void call_runtime(Emitter& e, Function* function, const ImageAccess& access) {
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), e.exec(), e.ir.getInt64(access.packed())});
}

/// Where the components are among the data's registers: two halves share one.
class DataRegisters {
public:
  DataRegisters(Emitter& e, const Operand& data, const ImageAccess& access, unsigned components)
      : data_(data), is_packed_(access.width == ComponentWidth::half), components_(components) {
    if (data.dwords != (is_packed_ ? (components + 1) / 2 : components)) e.unsupported("operand");
  }

  void put(Emitter& e) const {
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      for (unsigned c = 0; c < components_; ++c) {
        Value* value = e.vector(data_, chunk, register_of(c));
        put_lane_data(e, chunk, c, is_high(c) ? e.ir.CreateLShr(value, 16) : value);
      }
  }
  /// Halves of registers that get no component stay as they were.
  void take(Emitter& e) const {
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      for (unsigned c = 0; c < components_; ++c) {
        Value* value = lane_data(e, chunk, c);
        if (is_packed_) {
          Value* kept = e.ir.CreateAnd(e.vgpr(data_.index + register_of(c), chunk), is_high(c) ? 0xffffU : 0xffff0000U);
          value = e.ir.CreateOr(kept, is_high(c) ? e.ir.CreateShl(value, 16) : value);
        }
        e.set_vector(data_, chunk, value, register_of(c));
      }
  }

private:
  [[nodiscard]] unsigned register_of(unsigned component) const { return is_packed_ ? component / 2 : component; }
  [[nodiscard]] bool is_high(unsigned component) const { return is_packed_ && component % 2 == 1; }

  const Operand& data_;
  bool is_packed_;
  unsigned components_;
};

unsigned components_of(const ImageAccess& access) {
  return static_cast<unsigned>(std::popcount(std::uint32_t{access.mask}));
}

void load(Emitter& e, const Instruction& i, ImageAccess::Level level) {
  honour_cache_hints(e, i);
  const ImageOperands operands = image_operands(e, i);
  ImageAccess access = access_of(e, i);
  access.level = level;
  const DataRegisters data(e, *operands.data, access, components_of(access));
  put_operands(e, operands, access);
  call_runtime(e, runtime::image_load, access);
  data.take(e);
}

void store(Emitter& e, const Instruction& i, ImageAccess::Level level) {
  honour_store_hints(e, i);
  const ImageOperands operands = image_operands(e, i);
  ImageAccess access = access_of(e, i);
  access.level = level;
  const DataRegisters data(e, *operands.data, access, components_of(access));
  put_operands(e, operands, access);
  data.put(e);
  call_runtime(e, runtime::image_store, access);
}

void tell_size(Emitter& e, const Instruction& i) {
  honour_cache_hints(e, i);
  const ImageOperands operands = image_operands(e, i);
  ImageAccess access = access_of(e, i);
  const DataRegisters data(e, *operands.data, access, components_of(access));
  put_descriptor(e, *operands.resource, offsetof(WaveState, image_resource));
  AddressRegisters(e, operands).take(0, access.has(ImageAccess::half_addresses));
  call_runtime(e, runtime::image_size, access);
  data.take(e);
}

/// The mask says how many dwords of data there are: one or two of memory, twice as many with a value to compare with.
void atomic(Emitter& e, const Instruction& i, runtime::AtomicOperation operation) {
  honour_cache_hints(e, i);
  const ImageOperands operands = image_operands(e, i);
  const ImageAccess access = access_of(e, i);
  const bool compares = operation == runtime::AtomicOperation::compare_swap;
  const unsigned dwords = components_of(access);
  const bool is_wide = dwords == (compares ? 4 : 2);
  if ((!is_wide && dwords != (compares ? 2 : 1)) || access.mask != (1U << dwords) - 1) e.unsupported("mask");
  const NamedAtomic named{.name = "", .operation = operation, .bits = is_wide ? 64U : 32U};
  if (operands.data->dwords != dwords || access.width == ComponentWidth::half) e.unsupported("operand");
  put_operands(e, operands, access);
  put_source(e, *operands.data, source_format(named));
  Value* lanes = e.call(reinterpret_cast<const void*>(&runtime::image_addresses), e.i64(),
                        {e.state(), e.exec(), e.ir.getInt64(access.packed()), e.ir.getInt32(named.bits / 8)});
  call_atomic(e, named, lanes, e.ir.getInt64(0), runtime::Segment::global);
  if (!returns_former_value(i)) return;
  const AccessFormat result = result_format(named);
  take_destination(e, part_of(*operands.data, 0, result.dwords()), result);
}

void sample(Emitter& e, const Instruction& i, ImageAccess::Level level, unsigned flags) {
  honour_cache_hints(e, i);
  const ImageOperands operands = image_operands(e, i);
  if (operands.sampler == nullptr) e.unsupported("operand");
  ImageAccess access = access_of(e, i);
  access.level = level;
  access.flags |= static_cast<std::uint16_t>(flags);
  const bool gathers = access.has(ImageAccess::gathers);
  if (gathers && components_of(access) != 1) e.unsupported("a gather of several components");
  if (gathers && access.dimension != ImageDimension::two && access.dimension != ImageDimension::two_array)
    e.unsupported("a gather of other than two dimensions");
  if (access.has(ImageAccess::reference) && access.mask != 1) e.unsupported("a comparison with several components");
  const DataRegisters data(e, *operands.data, access, gathers ? 4 : components_of(access));
  put_operands(e, operands, access);
  call_runtime(e, runtime::image_sample, access);
  data.take(e);
}

struct NamedLevel {
  const char* name;
  ImageAccess::Level level;
  unsigned flags = 0;
  bool may_have_least = true;
};

struct NamedOperation {
  const char* name;
  runtime::AtomicOperation operation;
};

// clang-format off
constexpr NamedLevel sample_levels[] = {
    {"",        ImageAccess::Level::quad},
    {"_b",      ImageAccess::Level::quad, ImageAccess::bias},
    {"_l",      ImageAccess::Level::given, 0, false},
    {"_lz",     ImageAccess::Level::zero, 0, false},
    {"_d",      ImageAccess::Level::gradients},
    {"_cd",     ImageAccess::Level::gradients},  // derivatives that are less exact, or not
};

constexpr NamedOperation operations[] = {
    {"swap",    runtime::AtomicOperation::swap},
    {"cmpswap", runtime::AtomicOperation::compare_swap},
    {"add",     runtime::AtomicOperation::add},
    {"sub",     runtime::AtomicOperation::subtract},
    {"smin",    runtime::AtomicOperation::signed_min},
    {"umin",    runtime::AtomicOperation::unsigned_min},
    {"smax",    runtime::AtomicOperation::signed_max},
    {"umax",    runtime::AtomicOperation::unsigned_max},
    {"and",     runtime::AtomicOperation::bit_and},
    {"or",      runtime::AtomicOperation::bit_or},
    {"xor",     runtime::AtomicOperation::bit_xor},
    {"inc",     runtime::AtomicOperation::increment},
    {"dec",     runtime::AtomicOperation::decrement},
};
// clang-format on

/// image_sample_c_d_cl_o_g16 and the like: each part stands for addresses.
void add_samples(HandlerTable& table, const std::string& begin, const NamedLevel& level, unsigned flags) {
  const bool has_gradients = level.level == ImageAccess::Level::gradients;
  for (const bool has_least : {false, true}) {
    if (has_least && !level.may_have_least) continue;
    for (const bool has_offset : {false, true})
      for (const bool is_half : {false, true}) {
        if (is_half && !has_gradients) continue;
        unsigned all = flags | level.flags;
        if (has_least) all |= ImageAccess::least_level;
        if (has_offset) all |= ImageAccess::offset;
        if (is_half) all |= ImageAccess::half_gradients;
        const std::string name =
            begin + level.name + (has_least ? "_cl" : "") + (has_offset ? "_o" : "") + (is_half ? "_g16" : "");
        table.add(name, [all, at = level.level](auto& e, auto& i) { sample(e, i, at, all); });
      }
  }
}

}  // namespace

void add_image_memory(HandlerTable& table) {
  using Level = ImageAccess::Level;
  table.add("image_load", [](auto& e, auto& i) { load(e, i, Level::zero); });
  table.add("image_load_mip", [](auto& e, auto& i) { load(e, i, Level::given); });
  table.add("image_store", [](auto& e, auto& i) { store(e, i, Level::zero); });
  table.add("image_store_mip", [](auto& e, auto& i) { store(e, i, Level::given); });
  table.add("image_get_resinfo", tell_size);
  for (const auto& [name, operation] : operations)
    table.add(std::string("image_atomic_") + name,
              [operation = operation](auto& e, auto& i) { atomic(e, i, operation); });
  for (const char* comparison : {"", "_c"}) {
    const unsigned flags = *comparison == '\0' ? 0U : unsigned{ImageAccess::reference};
    for (const NamedLevel& level : sample_levels) {
      add_samples(table, std::string("image_sample") + comparison, level, flags);
      if (level.level != Level::gradients)
        add_samples(table, std::string("image_gather4") + comparison, level, flags | ImageAccess::gathers);
    }
  }
}

}  // namespace softgpu::compute
