#include "sanitizer/symbolize/journal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/launch_records.h"
#include "sanitizer/symbolize/payload.h"

namespace dtype_guard::san {
namespace {

JournalProcess read_process(Payload& in) {
  JournalProcess process;
  process.pid = in.u32();
  process.parent = in.u32();
  process.opened_ns = in.u64();
  if (std::uint32_t rank = in.u32(); rank != kNoRank) process.rank = static_cast<int>(rank);
  process.host = in.text();
  process.executable = in.text();
  process.command = in.text();
  process.version = in.text();
  if (in.good() && !in.empty()) process.started = in.u64();
  if (in.good() && !in.empty()) process.joined = in.u32() != 0;
  return process;
}

JournalModule read_module(Payload& in) {
  JournalModule module;
  module.bias = in.u64();
  module.low = in.u64();
  module.high = in.u64();
  module.build_id = in.text();
  module.size = in.u64();
  module.modified = in.u64();
  module.path = in.text();
  return module;
}

JournalOperand read_operand(Payload& in) {
  JournalOperand operand;
  operand.role = in.text();
  operand.flags = in.u32();
  operand.packed = in.u32();
  operand.accepts = DtypeSet::from_bits(in.u64());
  operand.same_as = static_cast<int>(in.u32()) - 1;
  operand.device_type = in.u32();
  operand.device_id = in.u32();
  std::uint32_t dimensions = in.count(8);
  for (std::uint32_t i = 0; i < dimensions; ++i) operand.shape.push_back(static_cast<std::int64_t>(in.u64()));
  return operand;
}

void read_python(Payload& in, JournalFinding& finding) {
  std::uint32_t frames = in.count(16);
  for (std::uint32_t i = 0; i < frames; ++i) {
    JournalPythonFrame frame;
    frame.file = in.text();
    frame.function = in.text();
    frame.line = in.u32();
    frame.from_c = in.u32() != 0;
    finding.python.push_back(std::move(frame));
  }
}

void read_origins(Payload& in, JournalFinding& finding) {
  std::uint32_t origins = in.count(8 + 4 * kChainLength);
  for (std::uint32_t i = 0; i < origins; ++i) {
    JournalOrigin origin;
    origin.operand = in.u32();
    origin.packed = in.u32();
    for (std::size_t step = 0; step < kChainLength; ++step)
      if (std::uint32_t site = in.u32(); site != 0 && origin.sites.size() == step)
        origin.sites.push_back(site);
    if (origin.operand < finding.operands.size()) finding.origins.push_back(std::move(origin));
  }
  if (std::uint32_t operand = in.u32(); operand != 0 && operand <= finding.operands.size())
    finding.reinterpreted = operand - 1;
}

// Of a site: up to its Python frames; what a later version appends there are no origins.
JournalFinding read_place(Payload& in) {
  JournalFinding finding;
  finding.index = in.u32();
  finding.api = in.name();
  finding.thread = in.u64();
  finding.time_ns = in.u64();
  std::uint32_t operands = in.count(36);
  for (std::uint32_t i = 0; i < operands; ++i) finding.operands.push_back(read_operand(in));
  for (JournalOperand& operand : finding.operands)
    if (operand.same_as >= static_cast<int>(operands)) operand.same_as = -1;
  std::uint32_t frames = in.count(12);
  for (std::uint32_t i = 0; i < frames; ++i) {
    std::uint32_t module = in.u32();
    finding.stack.push_back({module, in.u64()});
  }
  if (in.good() && !in.empty()) read_python(in, finding);
  return finding;
}

JournalFinding read_finding(Payload& in) {
  JournalFinding finding = read_place(in);
  if (in.good() && !in.empty()) read_origins(in, finding);
  return finding;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : bytes_(bytes) { journal_.file = file; }

  Journal run() {
    while (at_ < bytes_.size()) {
      if (std::size_t size = frame_size()) {
        end_damage();
        accept(bytes_.substr(at_, size));
        at_ += size;
      } else {
        if (!damage_start_) damage_start_ = at_;
        ++at_;
      }
    }
    end_damage();
    finish();
    return std::move(journal_);
  }

 private:
  // Of a whole and intact frame at this place, else 0.
  std::size_t frame_size() const {
    FrameHeader header;
    if (bytes_.size() - at_ < sizeof header) return 0;
    std::memcpy(&header, bytes_.data() + at_, sizeof header);
    if (header.magic != kJournalMagic || header.length > kLargestFrame - sizeof header) return 0;
    std::size_t size = sizeof header + header.length;
    if (size > bytes_.size() - at_ || frame_checksum(bytes_.data() + at_, size) != header.checksum) return 0;
    return size;
  }

  void end_damage() {
    if (!damage_start_) return;
    std::size_t start = *damage_start_;
    damage_start_.reset();
    std::size_t length = at_ - start;
    if (sequences_.empty() && at_ == bytes_.size()) return;  // no frame at all: finish() words that
    FrameHeader header{};
    std::memcpy(&header, bytes_.data() + start, std::min(length, sizeof header));
    if (at_ == bytes_.size() && (length < sizeof header || header.magic == kJournalMagic)) {
      std::string wanted = length < sizeof header ? fmt::format("its header alone takes {}", sizeof header)
                                                  : fmt::format("it takes {}", sizeof header + header.length);
      problem(fmt::format("truncated: the record at byte {} has {} bytes, {}", start, length, wanted));
    } else {
      problem(fmt::format("damaged: {} bytes from byte {} on are no valid record", length, start));
    }
  }

  void accept(std::string_view frame) {
    FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof header);
    sequences_.insert(header.sequence);
    if (header.format > kJournalFormat) {
      if (!newer_format_)
        problem(fmt::format("written in format {}, this dtype-san reads up to {}: use a newer one",
                            header.format, kJournalFormat));
      newer_format_ = true;
      return;
    }
    Payload in(frame.substr(sizeof header));
    if (!store(static_cast<FrameType>(header.type), in))
      problem(fmt::format("the record at byte {} (type {}) is malformed", at_, header.type));
  }

  bool store(FrameType type, Payload& in) {
    if (type != FrameType::kExec) journal_.exec.reset();  // it failed, and the program went on
    switch (type) {
      case FrameType::kProcess:
        return keep(in, journal_.process, read_process(in));
      case FrameType::kModule: {
        std::uint32_t id = in.u32();
        return keep(in, journal_.modules[id], read_module(in));
      }
      case FrameType::kKernel: {
        std::string api = in.name();
        std::uint32_t module = in.u32();
        (void)in.u64();
        if (!in.good()) return false;
        journal_.calls.try_emplace(api, 1);
        journal_.kernels.push_back({api, module});
        return true;
      }
      case FrameType::kFinding: {
        JournalFinding finding = read_finding(in);
        if (in.good() && !in.empty()) finding.forward = in.u32();  // since findings name it; launches do not
        if (in.good() && !in.empty()) finding.without_origin = in.u32();
        for (std::size_t i = 0; i < finding.operands.size() && in.good() && !in.empty(); ++i)
          if ((finding.without_origin >> i & 1U) != 0) finding.first_uses[i] = in.u32();
        if (in.good()) journal_.findings.push_back(std::move(finding));
        return in.good();
      }
      case FrameType::kCount: {
        std::uint32_t index = in.u32();
        std::uint64_t count = in.u64();
        if (in.good() && counts_[index] < count) counts_[index] = count;
        return in.good();
      }
      case FrameType::kCalls:
        return store_calls(in, journal_.calls);
      case FrameType::kUnseen:
        return store_calls(in, journal_.unseen);
      case FrameType::kNote:
        if (const std::string note = in.text(); in.good()) journal_.notes.push_back(note);
        return in.good();
      case FrameType::kClose:
        told_findings_ = in.u64();
        journal_.unrecorded = in.u64();
        journal_.lost = 0;
        journal_.closed = in.good();
        if (in.good() && !in.empty()) journal_.hook_ns = in.u64();
        if (in.good() && !in.empty()) {
          journal_.lost = std::min(in.u64(), journal_.unrecorded);
          journal_.loss_reason = in.name();
        }
        return in.good();
      case FrameType::kSite: {
        JournalFinding site = read_place(in);
        if (in.good()) journal_.sites[site.index] = std::move(site);
        return in.good();
      }
      case FrameType::kLaunch: {
        JournalLaunch launch = read_launch(in, read_finding(in));
        if (in.good()) journal_.launches.push_back(std::move(launch));
        return in.good();
      }
      case FrameType::kLaunches: {
        const std::uint32_t index = in.u32();
        LaunchCount count{in.u64(), 0, 0};
        if (in.good() && !in.empty()) count = {count.launches, in.u64(), in.u64()};
        if (in.good() && launch_counts_[index].launches <= count.launches) launch_counts_[index] = count;
        return in.good();
      }
      case FrameType::kCast: {
        JournalCast cast = read_cast(in, read_finding(in));
        if (in.good()) journal_.casts.push_back(std::move(cast));
        return in.good();
      }
      case FrameType::kCasts: {
        const std::uint32_t index = in.u32();
        const CastCount count{in.u64(), in.u64(), in.u64()};
        if (in.good()) cast_counts_[index] = count;
        return in.good();
      }
      case FrameType::kExec:
        journal_.exec = in.text();
        journal_.hook_ns = in.u64();
        return in.good();
      case FrameType::kSource:
        return store_source(in);
      case FrameType::kLibrary: {
        std::string name = in.text();
        std::uint32_t module = in.u32();
        if (in.good()) journal_.libraries.push_back({name, module});
        return in.good();
      }
    }
    // Of a later version. What it says is unknown, and it may be a finding.
    if (unknown_types_.insert(static_cast<unsigned>(type)).second)
      problem(
          fmt::format("the record at byte {} is of type {}, which this dtype-san does not know: use a "
                      "newer one",
                      at_, static_cast<unsigned>(type)));
    return true;
  }

  static bool store_calls(Payload& in, std::map<std::string, std::uint64_t>& calls) {
    const std::string name = in.name();
    if (const std::uint64_t count = in.u64(); in.good()) calls[name] = std::max(calls[name], count);
    return in.good();
  }

  bool store_source(Payload& in) {
    JournalSource source;
    source.name = in.name();
    source.on = in.u32() != 0;
    source.reason = in.text();
    source.graph_nodes = in.u64();
    source.graph_launches = in.u64();
    if (in.good() && !in.empty()) source.is_refused = in.u32() != 0;
    if (!in.good()) return false;
    std::erase_if(journal_.sources, [&](const JournalSource& known) { return known.name == source.name; });
    journal_.sources.push_back(std::move(source));
    return true;
  }

  template <typename Target, typename Value>
  static bool keep(const Payload& in, Target& target, Value value) {
    if (in.good()) target = std::move(value);
    return in.good();
  }

  void finish() {
    for (JournalFinding& finding : journal_.findings)
      if (auto found = counts_.find(finding.index); found != counts_.end()) finding.count = found->second;
    for (JournalLaunch& launch : journal_.launches)
      if (auto found = launch_counts_.find(launch.place.index); found != launch_counts_.end())
        apply(found->second, launch);
    for (JournalCast& cast : journal_.casts)
      if (auto found = cast_counts_.find(cast.place.index); found != cast_counts_.end())
        apply(found->second, cast);
    if (bytes_.empty()) {
      problem("empty (0 bytes), not a dtype-san journal");
    } else if (sequences_.empty()) {
      FrameHeader header{};
      std::memcpy(&header, bytes_.data(), std::min(bytes_.size(), sizeof header));
      if (header.magic == kJournalMagic) {
        problem(fmt::format("truncated: {} bytes hold no whole record", bytes_.size()));
      } else {
        std::string start;
        for (unsigned char c : bytes_.substr(0, 4)) start += fmt::format(" {:02x}", c);
        problem(fmt::format("not a dtype-san journal: begins with{}", start));
      }
    } else if (journal_.problems.empty()) {
      if (std::uint64_t lost = std::uint64_t{*sequences_.rbegin()} + 1 - sequences_.size())
        problem(fmt::format(
            "{} records are missing ({})", lost,
            journal_.loss_reason.empty() ? "was the disk full, or the file cut?" : journal_.loss_reason));
      else if (!journal_.process)
        problem("no record of the process");
      else if (std::uint64_t read = journal_.findings.size() + journal_.unrecorded; read < told_findings_)
        problem(fmt::format("{} of the {} findings that its closing record counts are missing",
                            told_findings_ - read, told_findings_));
    }
  }

  void problem(std::string text) { journal_.problems.push_back(std::move(text)); }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::optional<std::size_t> damage_start_;
  std::set<std::uint32_t> sequences_;
  std::map<std::uint32_t, std::uint64_t> counts_;
  std::map<std::uint32_t, LaunchCount> launch_counts_;
  std::map<std::uint32_t, CastCount> cast_counts_;
  bool newer_format_ = false;
  std::set<unsigned> unknown_types_;
  std::uint64_t told_findings_ = 0;  // by the closing record
  Journal journal_;
};

}  // namespace

Journal read_journal(std::string_view bytes, const std::string& file) { return Reader(bytes, file).run(); }

}  // namespace dtype_guard::san
