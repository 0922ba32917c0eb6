// A file that is lowered with a kept start says what it says when it is parsed from its first line.
#include "analyzer/clang/preambles.h"

#include <filesystem>

#include "analyzer/flow/ir/text.h"
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

const std::string kFile = "/project/code.cpp", kHeader = "/project/own.h";

class Editor {
 public:
  explicit Editor(std::vector<std::string> arguments) : command_{"/", kFile, std::move(arguments)} {
    options_.user_code = UserCode("/project", {});
    options_.record_dependencies = true;
    kept_ = std::make_shared<Preambles>();
  }
  void has(const std::string& file, const std::string& text) { options_.files[file] = text; }
  LoweredSource lowered(bool with_start) {
    LoweringOptions options = options_;
    if (with_start) options.preambles = kept_;
    return lower(command_, options);
  }
  // The same with and without; its text.
  std::string same() {
    const LoweredSource whole = lowered(false), quick = lowered(true);
    CHECK(flow::print(quick.module) == flow::print(whole.module));
    CHECK(quick.module.functions == whole.module.functions);
    CHECK(quick.module.classes == whole.module.classes);
    CHECK(quick.torch_version == whole.torch_version);
    CHECK(quick.errors.size() == whole.errors.size());
    CHECK(files(quick) == files(whole));
    return flow::print(quick.module);
  }
  bool keeps() const { return kept_->has(kFile); }
  Preambles& kept() { return *kept_; }

 private:
  static std::set<std::string> files(const LoweredSource& source) {
    std::set<std::string> out;
    for (const auto& each : source.dependencies.files) out.insert(each.path);
    return out;
  }
  CompileCommand command_;
  LoweringOptions options_;
  std::shared_ptr<Preambles> kept_;
};

Editor with_mini_torch() {
  const std::string folder = std::filesystem::path(DTYPE_GUARD_MINI_TORCH).parent_path().string();
  return Editor({"c++", "-std=c++17", "-I", folder});
}

const std::string kStart = "#include \"mini_torch.h\"\n#include \"own.h\"\n#define HALF at::kHalf\n";
const std::string kOwn =
    "#pragma once\ninline at::Tensor widened(at::Tensor x) { return x.to(at::kFloat); }\n"
    "struct Base { virtual ~Base() = default; virtual at::Tensor run(at::Tensor x) { return x; } };\n"
    "template <typename T> T twice(T x) { return x + x; }\n";
const std::string kBody =
    "struct Layer : Base {\n  at::Tensor run(at::Tensor x) override { return widened(twice(x)); }\n};\n"
    "at::Tensor use(at::Tensor x) { Layer layer; return layer.run(x.to(HALF)); }\n";

TEST_CASE("what follows the kept start is lowered as it is now") {
  Editor editor = with_mini_torch();
  editor.has(kHeader, kOwn);
  editor.has(kFile, kStart + kBody);
  editor.same();
  CHECK(editor.keeps());
  editor.has(kFile, kStart + "at::Tensor other(at::Tensor y) { return twice(widened(y)); }\n" + kBody);
  CHECK(contains(editor.same(), "other"));
  editor.has(kFile, kStart + "at::Tensor half_typed(at::Tensor y) { return y.\n");
  editor.same();
  editor.has(kFile, kStart + kBody);
  editor.same();
}

TEST_CASE("another start, another header and errors among the headers are seen") {
  Editor editor = with_mini_torch();
  editor.has(kHeader, kOwn);
  editor.has(kFile, kStart + kBody);
  editor.same();
  editor.has(kFile, "#define EXTRA 1\n" + kStart + kBody);
  editor.same();
  CHECK(editor.keeps());
  editor.has(kHeader, kOwn + "inline at::Tensor more(at::Tensor x) { return x; }\n");
  CHECK(contains(editor.same(), "more"));
  editor.has(kHeader, kOwn + "inline at::Tensor wrong(at::Tensor x) { return nothing; }\n");
  CHECK_FALSE(editor.lowered(true).errors.empty());
  editor.same();
  CHECK_FALSE(editor.keeps());
  editor.has(kFile, "#include \"nowhere.h\"\n" + kBody);
  CHECK_FALSE(editor.lowered(true).errors.empty());
  editor.has(kFile, "at::Tensor none(int);\n");
  editor.same();
  CHECK_FALSE(editor.keeps());
}

TEST_CASE("starts of files that are not open are given back") {
  Editor editor = with_mini_torch();
  editor.has(kHeader, kOwn);
  editor.has(kFile, kStart + kBody);
  editor.lowered(true);
  editor.kept().keep_only({kFile});
  CHECK(editor.keeps());
  editor.kept().keep_only({});
  CHECK_FALSE(editor.keeps());
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
