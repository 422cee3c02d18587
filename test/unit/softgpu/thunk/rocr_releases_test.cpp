#include "softgpu/thunk/rocr_releases.hpp"

#include <stdexcept>

#include <dlfcn.h>
#include <gmock/gmock.h>

namespace softgpu::thunk {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;

/// Opened on the soft GPU, not on AMD's libhsakmt.so.1.
void* open_library(const char* name) {
  for (const char* file : {SOFTGPU_LIBHSAKMT, name})
    if (dlopen(file, RTLD_NOW | RTLD_LOCAL) == nullptr) throw std::runtime_error(dlerror());
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/// The distribution's ROCr, as its dynamic section reads.
LoadedLibrary installed_rocr() {
  void* library = open_library("libhsa-runtime64.so.1");
  return library_of(dlsym(library, "hsa_init")).value();
}

TEST(Caller, IsTheLibraryThatAnAddressLiesIn) {
  const LoadedLibrary rocr = installed_rocr();
  EXPECT_EQ(rocr.soname, "libhsa-runtime64.so.1");
  EXPECT_THAT(rocr.path, HasSubstr("/libhsa-runtime64.so.1."));
  const auto release = rocr_release(rocr);
  if (release != RocrRelease::rocr_6_4 && release != RocrRelease::rocr_7_2) {  // these have the thunk built in
    EXPECT_THAT(rocr.thunk_imports, Contains(StrEq("hsaKmtOpenKFD")));
  }
}

TEST(Caller, MayBeTheProgramWhichHasNoName) {
  const auto program = library_of(reinterpret_cast<const void*>(&installed_rocr));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->soname, "");
}

TEST(Caller, IsUnknownForAnAddressThatIsNoCode) {
  const int local = 0;
  EXPECT_FALSE(library_of(&local));
}

TEST(RocrReleases, TheInstalledOneIsKnown) {
  const LoadedLibrary rocr = installed_rocr();
  EXPECT_TRUE(rocr_release(rocr)) << rocr.path << " imports " << testing::PrintToString(rocr.thunk_imports);
  EXPECT_FALSE(unknown_rocr_warning(rocr));
}

TEST(RocrReleases, ImagesDoNotMakeAnotherRelease) {
  LoadedLibrary rocr = installed_rocr();
  if (rocr.thunk_imports.empty()) GTEST_SKIP() << "this ROCr looks its functions up";
  std::erase(rocr.thunk_imports, "hsaKmtGetTileConfig");
  EXPECT_FALSE(unknown_rocr_warning(rocr));
}

TEST(RocrReleases, AFunctionMoreOrLessMakesAnotherRelease) {
  LoadedLibrary rocr = installed_rocr();
  if (rocr.thunk_imports.empty()) GTEST_SKIP() << "this ROCr looks its functions up";
  std::erase(rocr.thunk_imports, "hsaKmtOpenKFD");
  EXPECT_THAT(unknown_rocr_warning(rocr).value_or(""),
              ContainsRegex("/libhsa-runtime64.so.* is none of the ROCr releases .*: 5.2, 6.1, 6.4 and 7.2"));
  rocr = installed_rocr();
  rocr.thunk_imports.emplace_back("hsaKmtOfTomorrow");
  EXPECT_THAT(unknown_rocr_warning(rocr).value_or(""), HasSubstr("it also calls hsaKmtOfTomorrow"));
}

const LoadedLibrary rocr_7_2 = {.path = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1.18.0",
                                .soname = "libhsa-runtime64.so.1",
                                .thunk_imports = {}};

TEST(RocrReleases, OneThatImportsNothingIsKnownByItsFile) {
  EXPECT_EQ(rocr_release(rocr_7_2), RocrRelease::rocr_7_2);
  LoadedLibrary rocr_6_4 = rocr_7_2;
  rocr_6_4.path = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1.15.0";
  EXPECT_EQ(rocr_release(rocr_6_4), RocrRelease::rocr_6_4);
  EXPECT_FALSE(unknown_rocr_warning(rocr_7_2));
  LoadedLibrary other = rocr_7_2;
  other.path = "/opt/rocm/lib/libhsa-runtime64.so.1.18.70100";
  EXPECT_THAT(unknown_rocr_warning(other).value_or(""),
              StartsWith("/opt/rocm/lib/libhsa-runtime64.so.1.18.70100 is none"));
}

TEST(RocrReleases, StructuresGrewWithRelease7) {
  LoadedLibrary dynamic = rocr_7_2;
  dynamic.thunk_imports = {"hsaKmtOpenKFD"};
  EXPECT_EQ(layouts_of(dynamic), Layouts::of_5);
  dynamic.thunk_imports.emplace_back("hsaKmtModelEnabled");
  EXPECT_EQ(layouts_of(dynamic), Layouts::of_7);
  EXPECT_EQ(layouts_of({.path = "/usr/bin/tool", .soname = "", .thunk_imports = {}}), Layouts::of_5);
}

TEST(RocrReleases, OnlyRocrIsMeant) {
  EXPECT_FALSE(unknown_rocr_warning({.path = "/usr/bin/tool", .soname = "", .thunk_imports = {"hsaKmtOpenKFD"}}));
}

TEST(RocrReleases, AnUnknownOneIsNamedOnceOnStandardError) {
  void* library = open_library(STRANGE_ROCR);
  const auto open = reinterpret_cast<bool (*)()>(dlsym(library, "strange_rocr_open"));
  ASSERT_NE(open, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(open());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("^softgpu: .*strange_rocr.* is none of the ROCr releases .*hsaKmtPcSamplingSupport\n$"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(open());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace softgpu::thunk
