// Submitting batches to one queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dispatch/encode/batch_image.hpp"
#include "dispatch/encode/footprint.hpp"
#include "dispatch/hsa/watching.hpp"
#include "dispatch/memory/kernarg_chunks.hpp"
#include "dispatch/queue/copy_watch.hpp"
#include "dispatch/queue/kernel_times.hpp"
#include "dispatch/queue/packet_queue.hpp"
#include "dispatch/queue/queue_trace.hpp"
#include "dispatch/record/batch_recording.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

// Owns the images of the batches that were submitted to a queue, for as long as they may be in flight or submitted
// again. In one turn of the ring, a replay finds a free image, reserves slots, and notes how long the image is in use.
// Then it sets parameters and signals and publishes. It allocates only if more submissions are in flight than ever
// before.
//
// Thread safety: as for the queue.
class BatchSubmitter {
public:
  // `queue` outlives this, but its HSA queue is gone when this is destroyed.
  BatchSubmitter(PacketQueue& queue, KernargMemory kernargs) : queue_(queue), kernargs_(queue.agent(), kernargs) {}

  // Sorts `values`.
  Submission submit(const BatchRecording& recording, std::span<ParameterValue> values) {
    const Work work{.recording = recording, .version = recording.version(), .times = nullptr, .traced = nullptr};
    if (is_watched()) [[unlikely]]
      return submit_watched(work, values);
    return submit<Watched::no>(work, values);
  }
  // The same, and the kernels complete the signals of `times`: one for each of the recording's dispatches.
  Submission submit_timed(const BatchRecording& recording, std::span<ParameterValue> values,
                          const std::shared_ptr<KernelTimes>& times);

private:
  // What to submit. An image serves all submissions of its version, but a timed submission has a version of its own.
  struct Work {
    const BatchRecording& recording;
    const std::shared_ptr<BatchVersion>& version;
    const std::shared_ptr<KernelTimes>* times;  // null: none
    TracedSubmission* traced;                   // to be filled; null: none
  };

  struct ReadyImage {
    explicit ReadyImage(BatchImage made) : image(std::move(made)) {}

    BatchImage image;
    std::vector<PooledSignal> signals;
    std::shared_ptr<KernelTimes> times;
    std::vector<CopySignals> copy_signals;  // of each of the image's copies
    std::optional<CopyWatch::Entry> watched;
    std::uint64_t epoch = 0;  // in use until it completed; read and written in a turn
  };

  // The images of one version of a batch.
  struct EncodedBatch {
    std::shared_ptr<const BatchVersion> version;
    bool shared;                           // one image serves all submissions
    std::list<ReadyImage> images;          // the latest is last
    std::optional<Footprint> footprint{};  // if the batch's accesses are known
    std::uint64_t number = 0;              // unique in the queue, never reused
    // The number of the batch that it followed last; whether it may begin beside that batch's last packet.
    std::uint64_t followed = 0;
    bool begins_beside_followed = false;
  };
  using EncodedBatches = std::list<EncodedBatch>;

  // The slots of a part, and whether it may begin beside the packet before it.
  struct Place {
    Ring::Reservation reservation;
    bool beside_last;
  };
  // An image and the place of its first part.
  struct Beginning {
    EncodedBatch& encoded;
    ReadyImage& ready;
    Place place;
    std::span<const Packet> packets;
  };

  // A version for one submission. Its image goes when it has completed and a later one is made.
  struct PassingVersion {
    PassingVersion() = default;
    ~PassingVersion() { version->outdated.store(true, std::memory_order_release); }
    PassingVersion(const PassingVersion&) = delete;
    PassingVersion& operator=(const PassingVersion&) = delete;

    std::shared_ptr<BatchVersion> version = std::make_shared<BatchVersion>();
  };

  template <Watched watched>
  Submission submit(const Work& work, std::span<ParameterValue> values);
  Submission submit_watched(const Work& work, std::span<ParameterValue> values);
  Submission submit_traced(const Work& work, std::span<ParameterValue> values);
  // Checks the parameters, and tells whether there are any.
  bool check_parameters(const Work& work, std::span<ParameterValue> values) const;
  // Sets parameters and signals, publishes, and submits the rest of an image that is longer than the ring.
  template <Watched watched>
  Submission publish(const Work& work, const Beginning& beginning, std::span<ParameterValue> values, bool parametrized);
  [[nodiscard]] Beginning begin(const Work& work);
  // The same where an image has to be made, unless it is given, or room to come.
  [[nodiscard]] Beginning begin_later(const Work& work, EncodedBatches made = {});
  // Where the ring has room for the image, which belongs to the batch at the front of `encoded_`.
  [[nodiscard]] std::optional<Beginning> try_begin(const Ring::Turn& turn, ReadyImage& ready) noexcept;
  // The image to submit next, if one is free. Its batch comes to the front of `encoded_`.
  [[nodiscard]] ReadyImage* find(const Work& work);
  [[nodiscard]] EncodedBatches::iterator find_version(const BatchVersion& version) noexcept;
  // Takes the image of `made`, unless another thread was faster and one image serves all. `retired` gets the batches
  // that are not needed any more.
  void add(EncodedBatches& made, EncodedBatches& retired);
  // One batch with one new image.
  [[nodiscard]] EncodedBatches make(const Work& work);
  static void time_packets(ReadyImage& ready, const std::shared_ptr<KernelTimes>& times);
  // What a trace shows of the image, but for what is known when it is published.
  [[nodiscard]] static QueueTrace::Record record_of(const ReadyImage& ready, const BatchRecording& recording);

  // The packets from `published` on that go together.
  [[nodiscard]] std::span<const Packet> part_of(std::span<const Packet> packets, std::size_t published) const noexcept;
  [[nodiscard]] std::optional<Place> try_reserve(const Ring::Turn& turn, EncodedBatch& encoded, ReadyImage& ready,
                                                 std::span<const Packet> part) noexcept;
  // Whether a submission of `encoded` may begin, with the packet `first`, beside the last packet of the batch before
  // it.
  [[nodiscard]] bool may_begin_beside_last(EncodedBatch& encoded, std::uint64_t first) const noexcept;
  // Waits for room.
  [[nodiscard]] Ring::Reservation reserve(EncodedBatch& encoded, ReadyImage& ready, std::span<const Packet> part);
  // Starts the copies and submits the parts behind the first part, whose epoch is `epoch`. Returns the last part's
  // epoch. If it throws, the queue has failed.
  [[nodiscard]] std::uint64_t submit_rest(EncodedBatch& encoded, ReadyImage& ready, std::size_t published,
                                          std::uint64_t epoch);
  [[nodiscard]] Error what_cut_short(const ReadyImage& ready, std::size_t started,
                                     std::size_t published) const noexcept;
  // Of the signals that a copy waits for, those that HSA takes; waits for the others.
  [[nodiscard]] std::span<const hsa_signal_t> wait_for_surplus(std::span<const hsa_signal_t> start) const;
  // Starts the copies whose turn has come when packets up to `published` are in the ring.
  void start_copies(const ReadyImage& ready, std::size_t& started, std::size_t published);

  PacketQueue& queue_;
  KernargChunks kernargs_;
  EncodedBatches encoded_;  // the latest is first
  std::uint64_t numbers_given_ = 0;
  // The batch that was submitted last, if it is still known, and the index behind its last packet.
  const EncodedBatch* last_submitted_ = nullptr;
  std::uint64_t last_end_ = 0;
};

}  // namespace fastdispatch::detail
