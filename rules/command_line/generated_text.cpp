#include "rules/command_line/generated_text.h"

#include "rules/command_line/completions.h"
#include "rules/command_line/manual_page.h"

namespace dtype_guard {

const std::vector<std::string>& generated_kinds() {
  static const std::vector<std::string> kinds = {"bash", "fish", "man", "zsh"};
  return kinds;
}

std::string generated_text(const std::string& kind, const CommandOutline& command,
                           const std::string& edition) {
  if (kind == "bash") return bash_completion(command);
  if (kind == "fish") return fish_completion(command);
  if (kind == "man") return manual_page(command, edition);
  if (kind == "zsh") return zsh_completion(command);
  return "";
}

}  // namespace dtype_guard
