// The journal is the one thing that leaves a watched process: a file of frames, each with a magic number, its
// length and a checksum, each appended by one write(). A reader can therefore start anywhere, skip damage and
// say exactly what is missing. The file stands alone: what a frame refers to by number (a module) was written
// before it.
//
// All numbers are little-endian. A payload is a sequence of u32, u64 and texts (u32 length, bytes). Readers
// ignore what follows the members that they know, and say so where they do not know a frame's type.
//   process  u32 pid, u32 parent, u64 opened (ns since 1970), u32 rank (kNoRank: none), text host,
//            text executable, text command, text version, u64 start of the process (clock ticks since boot,
//            0: unknown; the same before and after an exec), u32 whether it was joined while it ran
//   module   u32 id, u64 bias (address in memory - address in the file), u64 low, u64 high,
//            text build-id (bytes), u64 size, u64 modified (s since 1970), text path
//   kernel   text api, u32 module, u64 address: the first call of this API in the process
//   finding  u32 index, text api, u64 thread, u64 time, u32 operands, operand..., u32 frames, (u32 module,
//            u64 pc)..., u32 python frames, (text file, text function, u32 line, u32 entered from C)...,
//            u32 origins, (u32 operand, u32 dtype, kChainLength u32 sites, 0: none)..., u32 operand + 1 whose
//            bits were written as another dtype, u32 site of the forward call of a backward one
//            (kForwardUnknown: it is one, and that is not known), u32 with a bit for each operand whose
//            origin is not known although origins are noted, for each of these u32 site of the first use of
//            its memory that was seen (kNoUseSeen: this call is the first; 0: that was not kept;
//            kHasNoMemory: it is traced, batched or nested)
//   operand  text role, u32 flags, u32 dtype (packed), u64 accepts (DtypeSet), u32 same_as + 1,
//            u32 device type, u32 device id, u32 dimensions, u64 size...
//   count    u32 index of a finding, u64 calls so far
//   calls    text api, u64 calls so far
//   note     text
//   close    u64 findings, u64 findings that were not recorded, u64 ns spent in records, u64 of the findings
//   that
//            were not recorded those that could not be written, text why
//   site     u32 index, then as a finding up to its python frames: the first call of a place with these
//            dtypes
//   library  text name, u32 module, u64 address, u32 how its calls are seen (1: by its observer slot)
//   launch   as a finding up to its origins, which are none, the kernel's name in the API's place, the
//            operands those of the watched call that it was launched in: the first launch of a kernel. Then
//            text API of that call, u32 whether arguments were read, u32 matches, (u32 operand,
//            u32 parameter, u32 offset)...
//   launches u32 index of a launch, u64 launches so far, u64 of them captured into graphs, u64 replayed
//   cast     as a launch up to its origins, of an attention kernel: the first time that a cast wrote its
//            input. Then u32 launch of the cast, u32 launch of the attention kernel, u32 role, u64 elements,
//            u32 bytes of one, u32 at::ScalarType + 1 before and u32 after the cast (0: as its name says)
//   casts    u32 index of a cast, u64 so far, u64 of them timed, u64 ns that these took
//   exec     text path, u64 ns spent in records: all counts were written, the process is about to become
//            another program. Where other frames follow it did not
//   unseen   text function, u64 calls so far: of an extension module's, whose operands were not looked at
//   source   text name, u32 on, text reason, u64 graph nodes created, u64 graph launches,
//              u32 off though what it watches is there (absent in 0.1)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dtype_guard::san {

inline constexpr std::uint32_t kJournalMagic = 0x314a5344;  // "DSJ1"
inline constexpr std::uint16_t kJournalFormat = 1;
inline constexpr std::size_t kLargestFrame = 16 * 1024;
inline constexpr std::size_t kChainLength = 4;  // sites of an origin
inline constexpr std::uint32_t kForwardUnknown = 0xffffffff;
inline constexpr std::uint32_t kNoUseSeen = 0xffffffff;
inline constexpr std::uint32_t kHasNoMemory = 0xfffffffe;
inline constexpr std::uint32_t kNoRank = 0xffffffff;
inline constexpr std::string_view kJournalSuffix = ".dtype-san";

enum class FrameType : std::uint16_t {
  kProcess = 1,
  kModule = 2,
  kKernel = 3,
  kFinding = 4,
  kCount = 5,
  kCalls = 6,
  kNote = 7,
  kClose = 8,
  kSite = 9,
  kLibrary = 10,
  kLaunch = 11,
  kLaunches = 12,
  kSource = 13,
  kCast = 14,
  kCasts = 15,
  kExec = 16,
  kUnseen = 17,
};

enum OperandFlag : std::uint32_t {
  kOperandPresent = 1,
  kOperandOptional = 2,
  kOperandOutput = 4,
  kOperandShapeKnown = 8,
};

struct FrameHeader {
  std::uint32_t magic;
  std::uint32_t checksum;  // XXH32 of everything after this member
  std::uint32_t length;    // of the payload
  std::uint32_t sequence;  // in the process, from 0: a gap means that a frame was lost
  std::uint16_t type;
  std::uint16_t format;
};
static_assert(sizeof(FrameHeader) == 20);
inline constexpr std::size_t kCheckedFrom = offsetof(FrameHeader, length);

inline std::uint32_t frame_checksum(const void* frame, std::size_t size) {
  return XXH32(static_cast<const char*>(frame) + kCheckedFrom, size - kCheckedFrom, 0);
}

// Builds one frame in a buffer of kLargestFrame bytes that the caller owns.
class FrameBuilder {
 public:
  FrameBuilder(void* buffer, FrameType type) : FrameBuilder(buffer, kLargestFrame, type) {}
  FrameBuilder(void* buffer, std::size_t capacity, FrameType type)
      : data_(static_cast<char*>(buffer)), capacity_(capacity), type_(type) {}

  FrameBuilder& u32(std::uint32_t value) { return raw(&value, sizeof value); }
  FrameBuilder& u64(std::uint64_t value) { return raw(&value, sizeof value); }
  FrameBuilder& text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    return raw(value.data(), value.size());
  }
  // Two pieces as one text.
  FrameBuilder& text(std::string_view first, std::string_view second) {
    u32(static_cast<std::uint32_t>(first.size() + second.size()));
    return raw(first.data(), first.size()).raw(second.data(), second.size());
  }
  bool overflowed() const { return overflowed_; }
  FrameType type() const { return type_; }
  std::size_t size() const { return size_; }
  const void* data() const { return data_; }

  // Completes the frame; its bytes are the first `result` of the buffer.
  std::size_t finish(std::uint32_t sequence) {
    FrameHeader header{kJournalMagic,
                       0,
                       static_cast<std::uint32_t>(size_ - sizeof(FrameHeader)),
                       sequence,
                       static_cast<std::uint16_t>(type_),
                       kJournalFormat};
    std::memcpy(data_, &header, sizeof header);
    header.checksum = frame_checksum(data_, size_);
    std::memcpy(data_, &header, sizeof header);
    return size_;
  }

 private:
  FrameBuilder& raw(const void* bytes, std::size_t count) {
    if (count > capacity_ - size_) {
      overflowed_ = true;
    } else if (count != 0) {
      std::memcpy(data_ + size_, bytes, count);
      size_ += count;
    }
    return *this;
  }

  char* data_;
  std::size_t capacity_;
  std::size_t size_ = sizeof(FrameHeader);
  FrameType type_;
  bool overflowed_ = false;
};

}  // namespace dtype_guard::san
