#include "sanitizer/sources/cupti/launch_callback.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/sources/cupti/arguments.h"
#include "sanitizer/sources/cupti/launch_abi.h"
#include "sanitizer/sources/cupti/launch_frames.h"

namespace dtype_guard::san::cupti {

namespace {

// A launch as the driver's entry point has it.
struct DriverCall {
  void* function = nullptr;
  void** arguments = nullptr;
  void** extra = nullptr;
  void* stream = nullptr;
};

// The default stream has two handles more, and which one 0 means depends on the entry point.
void* one_handle(void* stream, bool per_thread) {
  if (stream == nullptr && per_thread) return reinterpret_cast<void*>(kPerThreadStream);
  return reinterpret_cast<std::uintptr_t>(stream) == kLegacyStream ? nullptr : stream;
}

// False for other entry points.
bool read_driver_call(std::uint32_t id, const void* parameters, DriverCall& call) {
  if (parameters == nullptr) return false;
  switch (id) {
    case kCuLaunchKernel:
    case kCuLaunchKernelPtsz: {
      const auto& launch = *static_cast<const DriverLaunch*>(parameters);
      call = {launch.function, launch.arguments, launch.extra, launch.stream};
      break;
    }
    case kCuLaunchCooperativeKernel:
    case kCuLaunchCooperativeKernelPtsz: {
      const auto& launch = *static_cast<const DriverLaunch*>(parameters);
      call = {launch.function, launch.arguments, nullptr, launch.stream};
      break;
    }
    case kCuLaunchKernelEx:
    case kCuLaunchKernelExPtsz: {
      const auto& launch = *static_cast<const DriverLaunchEx*>(parameters);
      if (launch.config == nullptr) return false;
      call = {launch.function, launch.arguments, launch.extra, launch.config->stream};
      break;
    }
    default:
      return false;
  }
  const bool per_thread =
      id == kCuLaunchKernelPtsz || id == kCuLaunchCooperativeKernelPtsz || id == kCuLaunchKernelExPtsz;
  call.stream = one_handle(call.stream, per_thread);
  return true;
}

// The watched call that this thread is in; `operands` is null outside. Descriptors were read by the call's
// own check already, so they can be read again.
WatchedCall enclosing_call(const ThreadLaunch& thread) {
  const DLTensor* const* operands = thread.operands.load(std::memory_order_relaxed);
  if (operands == nullptr || operands[0] != thread.first_operand.load(std::memory_order_relaxed))
    return {ApiId::kCount, nullptr, 0};
  return {static_cast<ApiId>(thread.api.load(std::memory_order_relaxed)), operands,
          thread.caller.load(std::memory_order_relaxed)};
}

std::uint64_t key_of(const WatchedCall& call) {
  if (call.operands == nullptr) return 0;
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
  std::uint64_t key = (call.caller ^ static_cast<std::uint64_t>(call.api) << 56) * kMix;
  for (std::size_t i = 0; i < contract_of(call.api).operand_count; ++i)
    key = (key ^ (call.operands[i] != nullptr ? dtype_word(*call.operands[i]) : 0)) * kMix;
  return key != 0 ? key : 1;
}

// Where the launch's arguments hold addresses of the call's operands.
void match_operands(const WatchedCall& call, const Arguments& arguments, LaunchRecord& record) {
  record.has_arguments =
      arguments.each_word([&](std::size_t parameter, std::size_t offset, std::uint64_t word) {
        for (std::size_t i = 0; word != 0 && i < contract_of(call.api).operand_count; ++i) {
          const DLTensor* tensor = call.operands[i];
          if (tensor == nullptr || record.match_count == LaunchRecord::kMostMatches ||
              word != reinterpret_cast<std::uintptr_t>(tensor->data) + tensor->byte_offset)
            continue;
          record.matches[record.match_count++] = {static_cast<std::uint32_t>(i),
                                                  static_cast<std::uint32_t>(parameter),
                                                  static_cast<std::uint32_t>(offset)};
        }
      });
}

void record_first(Process& process, State& known, ThreadLaunch& thread, std::string_view name,
                  const Arguments* arguments) {
  thread.is_new.store(0, std::memory_order_relaxed);
  LaunchRecord record{thread.launch.load(std::memory_order_relaxed) - 1, name, enclosing_call(thread)};
  if (known.launches[record.index].recorded.exchange(1, std::memory_order_relaxed) != 0) return;
  if (arguments != nullptr && record.call.operands != nullptr)
    match_operands(record.call, *arguments, record);
  record_launch(process, record);
}

void link_casts(Process& process, State& known, const LaunchSettings& settings, std::uint32_t attention,
                std::string_view name, const StreamCast (&casts)[kInputs]) {
  for (std::uint32_t role = 0; role < kInputs; ++role) {
    if (casts[role].launch == StreamCasts::kNoLaunch) continue;
    const CastLink link{casts[role].launch, attention, role, casts[role].arguments};
    const CastLinks::Seen seen = known.cast_links.count(link);
    if (seen.count == 0) continue;
    if (seen.count == 1) record_cast(process, seen.index, name, link);
    known.cast_times.claim(casts[role].timer, seen.index);
  }
  if (settings.times_casts) known.cast_times.collect(settings.driver, known.cast_links);
}

// In the driver's callback: what the arguments tell. `launch` is null when it could not be counted.
void look_at_arguments(Process& process, State& known, const LaunchSettings& settings, ThreadLaunch& thread,
                       const DriverCall& call, const CallbackData& data, const Arguments& arguments) {
  const std::uint32_t index = thread.launch.load(std::memory_order_relaxed);
  const StreamKey stream{data.context, call.stream, settings.session.load(std::memory_order_relaxed)};
  const KernelParameters* row =
      index != 0 ? parameters(known.launches[index - 1].parameters.load(std::memory_order_relaxed)) : nullptr;
  if (row == nullptr) return known.stream_casts.end(stream);
  if (row->is_cast) {
    StreamCast cast{{}, index - 1, 0};
    if (!read_cast(*row, arguments, cast.arguments)) return known.stream_casts.end(stream);
    if (settings.times_casts) {
      cast.timer = known.cast_times.start(settings.driver, data.context, call.stream);
      thread.ticket.store(cast.timer, std::memory_order_relaxed);
    }
    return known.stream_casts.add(stream, cast);
  }
  std::uint64_t inputs[kInputs];
  StreamCast casts[kInputs];
  if (read_inputs(*row, arguments, inputs) && known.stream_casts.take(stream, inputs, casts))
    link_casts(process, known, settings, index - 1, data.symbol_name, casts);
  known.stream_casts.end(stream);
}

void enter_launch(State& known, ThreadLaunch& thread, const CallbackData& data) {
  const std::string_view name = data.symbol_name;
  const Launches::Seen seen = known.launches.count(name, key_of(enclosing_call(thread)));
  thread.launch.store(seen.count != 0 ? seen.index + 1 : 0, std::memory_order_relaxed);
  const bool is_new =
      seen.count != 0 && known.launches[seen.index].recorded.load(std::memory_order_relaxed) == 0;
  thread.is_new.store(is_new ? 1 : 0, std::memory_order_relaxed);
}

void leave_launch(Process& process, State& known, const LaunchSettings& settings, ThreadLaunch& thread,
                  std::uint32_t domain, std::uint32_t id, const CallbackData& data, bool is_outermost) {
  DriverCall call;
  if (const std::uint32_t ticket = thread.ticket.load(std::memory_order_relaxed);
      ticket != 0 && domain == kDriverApi && read_driver_call(id, data.parameters, call)) {
    thread.ticket.store(0, std::memory_order_relaxed);
    known.cast_times.stop(settings.driver, ticket, call.stream);
  }
  if (!is_outermost) return;
  // No callback of the driver came for it.
  if (thread.is_new.load(std::memory_order_relaxed) != 0 && data.symbol_name != nullptr)
    record_first(process, known, thread, data.symbol_name, nullptr);
  thread.launch.store(0, std::memory_order_relaxed);
}

void enter_graph_launch(State& known, const LaunchSettings& settings, std::uint32_t id,
                        const CallbackData& data, bool is_outermost) {
  if (data.parameters == nullptr) return;
  const auto& launch = *static_cast<const GraphLaunch*>(data.parameters);
  const bool per_thread = id == kCudaGraphLaunchPtsz || id == kCuGraphLaunchPtsz;
  known.stream_casts.end({data.context, one_handle(launch.stream, per_thread),
                          settings.session.load(std::memory_order_relaxed)});
  if (is_outermost) known.graphs.replayed(launch.executable);
}

bool is_graph_launch(std::uint32_t domain, std::uint32_t id) {
  return domain == kRuntimeApi ? id == kCudaGraphLaunch || id == kCudaGraphLaunchPtsz
                               : id == kCuGraphLaunch || id == kCuGraphLaunchPtsz;
}

// One step in or out; gives whether the entry point is the outermost.
bool step(ThreadLaunch& thread, CallbackSite site, std::uint32_t session) {
  if (thread.session.load(std::memory_order_relaxed) != session) {
    thread.session.store(session, std::memory_order_relaxed);
    thread.depth.store(0, std::memory_order_relaxed);
    thread.is_new.store(0, std::memory_order_relaxed);
    thread.ticket.store(0, std::memory_order_relaxed);
  }
  const std::uint32_t depth = thread.depth.load(std::memory_order_relaxed);
  if (site == kEnter) {
    thread.depth.store(depth + 1, std::memory_order_relaxed);
    return depth == 0;
  }
  if (depth > 0) thread.depth.store(depth - 1, std::memory_order_relaxed);
  return depth <= 1;
}

}  // namespace

void on_launch(Process& process, State& known, const LaunchSettings& settings, std::uint32_t domain,
               std::uint32_t id, const CallbackData& data, bool watching) {
  CallSlot* slot = call_slot(process);
  ThreadLaunch none{};  // of a thread that found no slot: counted in the driver's callback, or not at all
  ThreadLaunch& thread = slot != nullptr ? thread_launch(known, process, *slot) : none;
  // Kept also while watching is off: a thread may be inside a launch when that is switched.
  const bool is_outermost = slot != nullptr
                                ? step(thread, data.site, settings.session.load(std::memory_order_relaxed))
                                : domain == kDriverApi;
  if (data.site == kExit)
    return leave_launch(process, known, settings, thread, domain, id, data, is_outermost);
  if (is_graph_launch(domain, id)) {
    if (watching) enter_graph_launch(known, settings, id, data, is_outermost);
    return;
  }
  if (is_outermost) thread.launch.store(0, std::memory_order_relaxed);
  if (is_outermost && watching && data.symbol_name != nullptr) enter_launch(known, thread, data);
  if (domain != kDriverApi) return;
  DriverCall call;
  const bool is_readable = read_driver_call(id, data.parameters, call);
  const Arguments arguments(settings.driver, call.function, call.arguments, call.extra);
  if (thread.is_new.load(std::memory_order_relaxed) != 0 && data.symbol_name != nullptr)
    record_first(process, known, thread, data.symbol_name, is_readable ? &arguments : nullptr);
  if (is_readable) look_at_arguments(process, known, settings, thread, call, data, arguments);
}

void on_graph(Process& process, State& known, std::uint32_t id, const void* resource) {
  if (resource == nullptr) return;
  const auto* graph = static_cast<const GraphData*>(static_cast<const ResourceData*>(resource)->descriptor);
  if (graph == nullptr) return;
  if (id == kGraphExecCreated)
    return known.graphs.instantiated(known.launches, graph->executable, graph->graph, graph->original_graph);
  known.graphs.add_node();
  CallSlot* slot = call_slot(process);
  const std::uint32_t launch =
      slot != nullptr ? thread_launch(known, process, *slot).launch.load(std::memory_order_relaxed) : 0;
  if (launch == 0) return;  // added by hand, or something else than a kernel
  known.launches[launch - 1].captured.fetch_add(1, std::memory_order_relaxed);
  known.graphs.captured(graph->graph, launch - 1);
}

}  // namespace dtype_guard::san::cupti
