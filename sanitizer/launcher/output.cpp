#include "sanitizer/launcher/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "rules/command_line/wrong_words.h"
#include "sanitizer/launcher/message.h"

namespace dtype_guard::san {
std::vector<Output> parse_outputs(const std::vector<std::string>& formats) {
  std::vector<Output> outputs;
  for (const std::string& text : formats) {
    std::size_t equals = text.find('=');
    std::string format = text.substr(0, equals);
    Output output;
    output.format = find_format(format);
    if (output.format == nullptr) throw UsageError{none_of("--format", format, names_of_formats())};
    if (equals != std::string::npos) {
      output.file = text.substr(equals + 1);
      if (output.file.empty()) throw UsageError{fmt::format("--format: '{}' names no file after '='", text)};
    }
    outputs.push_back(std::move(output));
  }
  bool terminal = std::any_of(outputs.begin(), outputs.end(),
                              [](const Output& o) { return o.file.empty() || o.file == "-"; });
  if (!terminal) outputs.insert(outputs.begin(), Output{});
  return outputs;
}

Frames parse_frames(const std::string& word) {
  if (word.empty()) return Frames::kFolded;
  const std::vector<std::string>& words = frames_words();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) throw UsageError{none_of("--frames", word, words)};
  return found == words.begin() ? Frames::kFolded : Frames::kAll;
}

void check_outputs(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    if (output.file.empty() || output.file == "-") continue;
    int descriptor = open(output.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      throw UsageError{fmt::format(
          "--format: '{}': the report cannot be written there: {}; name a file in a folder that exists",
          output.file, std::strerror(errno))};
    close(descriptor);
  }
}

Written write_outputs(const std::vector<Output>& outputs, const Report& report, std::ostream& terminal,
                      const TextOptions& options) {
  Written written;
  TextOptions file_options;
  file_options.frames = options.frames;
  for (const Output& output : outputs) {
    if (output.file.empty() || output.file == "-") {
      std::ostream& out = output.file.empty() ? terminal : std::cout;
      output.format->write(out, report, output.file.empty() ? options : file_options);
      out.flush();
      if (out.good()) continue;
      tell("the report could not be written to the terminal; is the disk full?");
      written.terminal = false;
      continue;
    }
    std::ofstream out(output.file, std::ios::binary | std::ios::trunc);
    output.format->write(out, report, file_options);
    out.close();
    if (out.good()) continue;
    tell("{}: the report could not be written: {}", output.file, std::strerror(errno));
    written.files = false;
  }
  return written;
}

}  // namespace dtype_guard::san
