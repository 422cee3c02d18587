// The properties of architectures, compared with LLVM's assembler.
#include <string>

#include <gtest/gtest.h>
#include <llvm/Config/llvm-config.h>

#include "assembler.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"

namespace softgpu::isa {
namespace {

using compute::Architecture;

/// Without operands the assembler complains about the operands if it knows the mnemonic, else about the mnemonic.
bool is_mnemonic_of(const Architecture& architecture, const std::string& mnemonic) {
  try {
    return !assemble(mnemonic, {&architecture, architecture.wavefront_size}).empty();
  } catch (const AssemblyError& error) {
    const std::string text = error.what();
    return text.find("invalid instruction") == std::string::npos && text.find("not supported on") == std::string::npos;
  }
}

TEST(Architectures, RenamedInstructionsAreThoseOfOneThatIsNotGfx90a) {
  using enum compute::ArchitectureFamily::Instructions;
  const auto names = compute::renamed_instructions(Architecture::find("gfx1200") != nullptr ? rdna4 : rdna);
  ASSERT_FALSE(names.empty());
  for (const auto& [name, gfx90a_name] : names) {
    // LLVM 15 has not renamed these two.
    if (LLVM_VERSION_MAJOR == 15 && name.starts_with("v_cvt_pk_norm_") && name.ends_with("_f32")) continue;
    bool is_known = false;
    for (const Architecture& architecture : Architecture::all())
      is_known = is_known || (&architecture != &Architecture::gfx90a() && is_mnemonic_of(architecture, name));
    EXPECT_TRUE(is_known) << name << ", which is to be gfx90a's " << gfx90a_name;
    EXPECT_FALSE(is_mnemonic_of(Architecture::gfx90a(), name)) << name;
  }
}

TEST(Architectures, HaveARowInTheTableOfComputeUnits) {
  for (const Architecture& architecture : Architecture::all()) EXPECT_NE(architecture.compute_unit, nullptr);
}

TEST(Architectures, AreFoundByTheirNames) {
  for (const Architecture& architecture : Architecture::all())
    EXPECT_EQ(Architecture::find(architecture.name), &architecture) << architecture.name;
  EXPECT_EQ(Architecture::find("gfx1"), nullptr);
}

}  // namespace
}  // namespace softgpu::isa
