#include "sanitizer/symbolize/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace dtype_guard::san {
namespace {

std::string_view base_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); });
}

// Libraries that stand between the user's code and the kernel.
bool is_library_module(const std::string& path) {
  static constexpr std::array<std::string_view, 16> kPrefixes = {
      "libflash_ref.", "libdtype_san.", "libtorch", "libc10",     "libc.so",  "ld-linux",
      "libstdc++.",    "libgcc_s.",     "libm.so",  "libpython3", "python3.", "libpthread",
      "libgomp.",      "linux-vdso",    "libffi.",  "_ctypes."};
  return starts_with_any(base_name(path), kPrefixes);
}

// What a user has typed or pasted, under the names that shells give it: a cell of IPython, a line of Python's
// own prompt, of IDLE, bpython or a notebook service; a test in a docstring; a module of torch.package.
bool is_typed(const std::string& file) {
  static constexpr std::array<std::string_view, 10> kPrompts = {
      "<stdin",    "<ipython-input-", "<python-input-", "<console>", "<input>",
      "<pyshell#", "<bpython-input-", "<command-",      "<doctest ", "<torch_package_"};
  return starts_with_any(file, kPrompts);
}

// What PyTorch generates: torch.fx's code has a file's name in angles, as other code that was never in a
// file; inductor's lies in its cache, a folder torchinductor_USER.
bool is_generated(const std::string& file) {
  if (file.starts_with("<")) return !is_typed(file) && !file.starts_with("<frozen ");
  return file.starts_with("torchinductor_") || file.find("/torchinductor_") != std::string::npos;
}

// CPython looks for its own library in lib/python3.11 below its prefix (lib64 where the platform has it so),
// or in a zip file lib/python311.zip: what lies there outside of site-packages is the interpreter's.
bool is_interpreters_own(std::string_view file) {
  constexpr std::string_view kName = "/python3";
  for (std::size_t at = file.find(kName); at != file.npos; at = file.find(kName, at + 1)) {
    const std::string_view before = file.substr(0, at);
    if (!before.ends_with("/lib") && !before.ends_with("/lib64")) continue;
    std::string_view rest = file.substr(at + kName.size());
    if (rest.starts_with(".")) rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(digits);
    if (rest.starts_with("t/")) rest.remove_prefix(1);  // free-threaded
    if (digits != 0 && (rest.starts_with("/") || rest.starts_with(".zip/"))) return true;
  }
  return false;
}

// An installed package holds models, which is where a dtype is to be mended, except for those that only pass
// tensors on, PyTorch wherever it lies, and for shells, which run what is typed; the interpreter's own
// library and generated code ("<string>") never do.
bool is_library_file(const std::string& file, const std::set<std::string>& torch_folders) {
  for (const std::string& folder : torch_folders)
    if (file.starts_with(folder)) return true;
  if (is_generated(file)) return true;
  static constexpr std::array<std::string_view, 7> kPassOn = {
      "torch/", "functorch/", "einops/", "beartype/", "IPython/", "ipykernel/", "traitlets/"};
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = file.rfind(packages);
    if (at != std::string::npos)
      return starts_with_any(std::string_view(file).substr(at + packages.size()), kPassOn);
  }
  if (file.starts_with("<")) return !is_typed(file);
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") || is_interpreters_own(file);
}

// `python -c` and exec() give what they run this name. So do packages to code that they generate: it is the
// user's only where no other frame is.
bool is_program_text(const StackFrame& frame) { return frame.file == "<string>"; }

// A tensor class passes on what is called of its tensors: the line of that call is further out.
bool is_dispatch(const StackFrame& frame) {
  return frame.function.ends_with(".__torch_dispatch__") || frame.function.ends_with(".__torch_function__");
}

bool is_evaluation(const StackFrame& frame) { return frame.function.starts_with("_PyEval_EvalFrameDefault"); }

// Between Python and the kernel: nothing that a user could look at.
bool is_bridge(const StackFrame& frame) {
  static constexpr std::array<std::string_view, 2> kBridges = {"libffi.", "_ctypes."};
  return starts_with_any(base_name(frame.module), kBridges);
}

}  // namespace

std::vector<StackFrame> merge_python(const std::vector<StackFrame>& native,
                                     const std::vector<StackFrame>& python, const std::vector<bool>& from_c) {
  auto loop = std::find_if(native.begin(), native.end(), is_evaluation);
  std::vector<StackFrame> merged;
  std::size_t next = 0;
  const auto add_python = [&](bool all) {
    while (next < python.size()) {
      merged.push_back(python[next]);
      if (from_c[next++] && !all) return;
    }
  };
  if (loop == native.end()) {  // no symbols: the Python frames are the better half
    for (const StackFrame& frame : native)
      if (!is_bridge(frame)) merged.push_back(frame);
    merged.insert(merged.begin(), python.begin(), python.end());
    return merged;
  }
  for (const StackFrame& frame : native) {
    if (is_evaluation(frame)) {
      add_python(false);
    } else if (frame.module != loop->module && !is_bridge(frame)) {
      merged.push_back(frame);
    }
  }
  add_python(true);
  return merged;
}

namespace {

std::vector<StackFrame>::const_iterator user_frame(const std::vector<StackFrame>& frames,
                                                   const std::set<std::string>& torch_folders) {
  auto user = std::find_if(frames.begin(), frames.end(), [&](const StackFrame& frame) {
    return !is_library_module(frame.module) && !is_library_file(frame.file, torch_folders) &&
           !is_dispatch(frame);
  });
  if (user == frames.end()) user = std::find_if(frames.begin(), frames.end(), is_program_text);
  return user == frames.end() ? frames.begin() : user;
}

}  // namespace

SourceLocation user_location(const std::vector<StackFrame>& frames,
                             const std::set<std::string>& torch_folders) {
  const auto user = user_frame(frames, torch_folders);
  SourceLocation place;
  if (user == frames.end()) return place;
  place.file = user->file.empty() ? user->module : user->file;
  place.line = user->line;
  place.function = user->language == "python" ? user->function : qualified_name(user->function);
  return place;
}

const StackFrame* generated_code(const std::vector<StackFrame>& frames,
                                 const std::set<std::string>& torch_folders) {
  const auto user = user_frame(frames, torch_folders);
  const auto found = std::find_if(frames.begin(), user, [](const StackFrame& frame) {
    return frame.language == "python" && is_generated(frame.file);
  });
  return found != user ? &*found : nullptr;
}

std::vector<StackFrame> Stacks::native(const Journal& journal, const JournalFinding& call) {
  std::vector<StackFrame> frames;
  for (const JournalAddress& address : call.stack) {
    static const JournalModule kUnknown;
    auto found = journal.modules.find(address.module);
    const JournalModule& module = found != journal.modules.end() ? found->second : kUnknown;
    if (settings_.symbolize && found != journal.modules.end()) {
      for (StackFrame& frame : symbolizer_.resolve(module, address.pc)) {
        frame.file = shown_path(frame.file);
        frames.push_back(std::move(frame));
      }
    } else {
      frames.push_back(bare_frame(module, address.pc));
    }
  }
  return frames;
}

// Of torch/lib/libtorch_cpu.so the folder torch/, whose Python files are PyTorch's: installed for development
// or below a folder of the user's choice it is in no site-packages.
void Stacks::note_torch(const Journal& journal) {
  for (const auto& [number, module] : journal.modules) {
    const std::filesystem::path path = module.path;
    const std::filesystem::path folder = path.parent_path().parent_path();
    if (path.filename().string().starts_with("libtorch") && folder.filename() == "torch")
      torch_folders_.insert(shown_path((folder / "").string()));
  }
}

std::vector<StackFrame> Stacks::resolve(const Journal& journal, const JournalFinding& call) {
  if (std::exchange(noted_, &journal) != &journal) note_torch(journal);
  std::vector<StackFrame> frames = native(journal, call);
  if (call.python.empty()) return frames;
  std::vector<StackFrame> python;
  std::vector<bool> from_c;
  for (const JournalPythonFrame& recorded : call.python) {
    StackFrame frame;
    frame.language = "python";
    frame.function = recorded.function;
    frame.file = shown_path(recorded.file);
    // Python's "no line" is -1 here; a report says 0 for a line that is not known.
    frame.line = std::in_range<int>(recorded.line) ? static_cast<int>(recorded.line) : 0;
    python.push_back(std::move(frame));
    from_c.push_back(recorded.from_c);
  }
  return merge_python(frames, python, from_c);
}

std::string Stacks::generated_note(const std::vector<StackFrame>& frames) const {
  const StackFrame* code = generated_code(frames, torch_folders_);
  if (code == nullptr) return "";
  return fmt::format("; it stands in generated code ({}:{}), of the function here or of what that calls",
                     code->file.substr(0, code->file.find(" from ")), code->line);
}

std::string Stacks::shown_path(const std::string& file) const {
  if (file.empty() || file.front() == '<') return file;
  std::string path = std::filesystem::path(file).lexically_normal().string();
  if (!settings_.strip_path_prefix.empty() && path.starts_with(settings_.strip_path_prefix))
    return path.substr(settings_.strip_path_prefix.size());
  std::string root = settings_.root.ends_with('/') ? settings_.root : settings_.root + "/";
  return !settings_.root.empty() && path.starts_with(root) ? path.substr(root.size()) : path;
}

}  // namespace dtype_guard::san
