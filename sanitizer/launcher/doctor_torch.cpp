#include "sanitizer/launcher/doctor_torch.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "rules/text/printable.h"
#include "sanitizer/attach/observer_note.h"
#include "sanitizer/sources/torch/function_names.h"
#include "sanitizer/symbolize/journals.h"

namespace dtype_guard::san {
namespace {

// torch/version.py beside torch/lib: "__version__ = '2.13.0+cpu'". Empty where libtorch is installed
// otherwise.
std::string version_beside(const std::filesystem::path& file) {
  std::ifstream in(file.parent_path().parent_path() / "version.py");
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find('\''), end = line.rfind('\'');
    if (line.starts_with("__version__ =") && begin != line.npos && end > begin)
      return ' ' + printable(line.substr(begin + 1, end - begin - 1));
  }
  return "";
}

// What the source of a process that is watched has said of itself; nullptr where it has not.
const JournalSource* own_word(const std::vector<Journal>& journals) {
  const JournalSource* last = nullptr;
  for (const Journal& journal : journals)
    for (const JournalSource& source : journal.sources)
      if (source.name == "torch") last = &source;
  return last;
}

}  // namespace

bool is_torch(const std::string& name) {
  return std::filesystem::path(name).filename().string().starts_with("libtorch_cpu.so");
}

TorchDiagnosis diagnose_torch(const std::string& name, const std::string& file,
                              const std::vector<std::string>& journals) {
  TorchDiagnosis found;
  const std::string torch = fmt::format("PyTorch{} ('{}')", version_beside(file), printable(name));
  const std::vector<Journal> loaded = load_journals(journals);
  if (const JournalSource* source = own_word(loaded)) {
    found.can_be_watched = source->on;
    found.text =
        fmt::format("{} is {}watched: {}", torch, source->on ? "" : "not ", printable(source->reason));
  } else if (!exports_function(file, torch::kAddGlobalCallback)) {
    found.text = fmt::format("{} does not export at::addGlobalCallback: its calls are not seen", torch);
  } else {
    found.can_be_watched = true;
    found.text = fmt::format(
        "{}: attention, rotary and cache operators that a contract speaks of can be watched, if the test of "
        "its layout fits, which is made in the process as it is joined; attach says whether it did",
        torch);
  }
  if (found.can_be_watched)
    found.not_seen =
        "of PyTorch are not seen: calls that only pybind or Triton make, kernels of compiled code, replays "
        "of CUDA graphs";
  return found;
}

}  // namespace dtype_guard::san
