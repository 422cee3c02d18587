// What is known of EXEC where code is emitted. Where every lane is enabled nothing has to be masked: code is translated
// for that case and, where EXEC may be anything, again. A path gets from one to the other where it branches.
#pragma once

namespace softgpu::compute {

class ExecKnowledge {
public:
  /// The whole program is translated once, for any EXEC.
  void ignore() { is_of_use_ = false; }
  /// EXEC may be something else from here on. For handlers that branch before they write it; writing it says the same.
  void forget() {
    all_lanes_ = false;
    may_regain_lanes_ = true;
  }
  /// Code for paths on which EXEC enables every lane, or may be anything, begins here.
  void begin_block(bool all_lanes) {
    all_lanes_ = all_lanes;
    may_regain_lanes_ = false;
  }

  [[nodiscard]] bool all_lanes() const { return all_lanes_; }
  /// A branch looks at EXEC and takes the code that fits.
  [[nodiscard]] bool is_worth_a_look() const { return is_of_use_ && may_regain_lanes_; }

private:
  bool all_lanes_ = false;
  bool is_of_use_ = true;
  bool may_regain_lanes_ = false;  ///< EXEC was written since the last branch
};

}  // namespace softgpu::compute
