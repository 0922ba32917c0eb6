// Python frames in place of the interpreter's, and the frame that a finding is placed at.
#include "sanitizer/symbolize/stacks.h"

#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::san;

namespace {

StackFrame native(const std::string& function, const std::string& module) {
  StackFrame frame;
  frame.language = "c";
  frame.function = function;
  frame.module = module;
  return frame;
}

StackFrame python(const std::string& function, const std::string& file = "/srv/me/model.py") {
  StackFrame frame;
  frame.language = "python";
  frame.function = function;
  frame.file = file;
  frame.line = 7;
  return frame;
}

std::vector<std::string> functions(const std::vector<StackFrame>& frames) {
  std::vector<std::string> names;
  for (const StackFrame& frame : frames) names.push_back(frame.function);
  return names;
}

}  // namespace

TEST_CASE("Python frames stand where the evaluation loop was") {
  const std::string interpreter = "/usr/bin/python3.11";
  std::vector<StackFrame> frames = {native("ffi_call", "/lib/libffi.so.8"),
                                    native("call", "/lib/_ctypes.so"),
                                    native("_PyEval_EvalFrameDefault", interpreter),
                                    native("PyObject_Call", interpreter),
                                    native("backward", "/lib/libmodel.so"),
                                    native("_PyEval_EvalFrameDefault", interpreter),
                                    native("Py_RunMain", interpreter),
                                    native("__libc_start_main", "/lib/libc.so.6")};
  std::vector<StackFrame> merged =
      merge_python(frames, {python("inner"), python("outer"), python("main")}, {false, true, true});
  CHECK(functions(merged) ==
        std::vector<std::string>{"inner", "outer", "backward", "main", "__libc_start_main"});
}

TEST_CASE("without symbols the Python frames come first") {
  std::vector<StackFrame> merged = merge_python(
      {native("", "/lib/libffi.so.8"), native("", "/usr/bin/python3.11")}, {python("inner")}, {false});
  CHECK(functions(merged) == std::vector<std::string>{"inner", ""});
}

TEST_CASE("Python frames that no loop is left for are kept") {
  std::vector<StackFrame> merged = merge_python({native("_PyEval_EvalFrameDefault", "/usr/bin/python3.11")},
                                                {python("a"), python("b"), python("c")}, {true, true, false});
  CHECK(functions(merged) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("a finding lies in the first frame of the user's own code") {
  std::vector<StackFrame> frames = {
      python("linear", "/usr/lib/python3/dist-packages/torch/nn.py"),
      python("wrapper", "/srv/me/venv/lib/python3.11/site-packages/torch/nn.py"),
      python("<module>", "<frozen importlib._bootstrap>"), python("forward")};
  SourceLocation place = user_location(frames);
  CHECK(place.function == "forward");
  CHECK(place.file == "/srv/me/model.py");
  CHECK(place.line == 7);
  CHECK(user_location({}).file.empty());
}

TEST_CASE("what is typed at a prompt is the user's own code, and the shell that runs it is not") {
  const std::string packages = "/srv/me/venv/lib/python3.11/site-packages/";
  for (const std::string name :
       {"<stdin>", "<stdin-0>", "<ipython-input-4-a018ebc4c614>", "<python-input-3>", "<console>",
        "<pyshell#2>", "<command-17>", "<doctest a.b[0]>", "<torch_package_0>.model.py"}) {
    SourceLocation place = user_location({python("linear", packages + "torch/nn.py"), python("cell", name),
                                          python("run_code", packages + "IPython/core/interactiveshell.py"),
                                          python("<module>", "/srv/me/bin/ipython")});
    CHECK(place.file == name);
  }
}

TEST_CASE("generated code is passed over, and a shell between it and the user's code as well") {
  const std::string packages = "/srv/me/venv/lib/python3.11/site-packages/";
  for (const std::string name :
       {"<string>", "<eval_with_key>.7", "<attrs generated init a.B>", "<frozen runpy>"})
    for (const std::string shell : {"IPython/core/interactiveshell.py", "ipykernel/zmqshell.py"}) {
      SourceLocation place = user_location({python("forward", name), python("run_code", packages + shell),
                                            python("main"), python("<module>", "/srv/me/other.py")});
      CHECK(place.file == "/srv/me/model.py");
    }
}

TEST_CASE("a program that is a text has its lines, where no file is") {
  SourceLocation place =
      user_location({python("linear", "/usr/lib/python3/dist-packages/torch/nn.py"),
                     python("forward", "<eval_with_key>.7"), python("f", "<string>"),
                     native("__libc_start_main", "/lib/libc.so.6"), native("_start", "/usr/bin/python3.11")});
  CHECK(place.file == "<string>");
}

TEST_CASE("the interpreter's own library is not the user's, wherever its prefix is") {
  for (const char* file :
       {"/usr/lib64/python3.12/functools.py", "/opt/py/lib/python3.11/threading.py",
        "/srv/me/cpython/lib/python3.14t/runpy.py", "/opt/app/lib/python311.zip/contextlib.py"}) {
    CHECK(user_location({python("wrapper", file), python("forward")}).function == "forward");
  }
  for (const char* file :
       {"/srv/me/lib/python3_models/attention.py", "/srv/me/lib/python3/attention.py",
        "/srv/lib/python3.11/site-packages/model/attention.py", "/srv/me/python3.11/a.py"}) {
    CHECK(user_location({python("call", file), python("forward")}).function == "call");
  }
}

TEST_CASE("PyTorch's own files are no user's, wherever it is installed") {
  const std::vector<StackFrame> frames = {python("linear", "/srv/me/pytorch/torch/nn/functional.py"),
                                          python("call", "/srv/me/torch/attention.py"), python("forward")};
  CHECK(user_location(frames, {"/srv/me/pytorch/torch/"}).function == "call");
  CHECK(user_location(frames).function == "linear");
}

TEST_CASE("where PyTorch is installed its own library tells") {
  Journal journal;
  journal.modules[1].path = "/srv/me/pytorch/torch/lib/libtorch_cpu.so";
  JournalFinding call;
  call.python = {{"/srv/me/pytorch/torch/nn/functional.py", "linear", 9, false},
                 {"/srv/me/pytorch/model.py", "call", 7, false}};
  Stacks stacks({.root = "/srv/me", .strip_path_prefix = "", .symbolize = false, .sysroot = ""});
  CHECK(stacks.place_of(stacks.resolve(journal, call)).file == "pytorch/model.py");

  Journal other;  // a folder of the user's that is called so
  other.modules[1].path = "/srv/me/pytorch/torch/lib/libmine.so";
  Stacks none({.root = "/srv/me", .strip_path_prefix = "", .symbolize = false, .sysroot = ""});
  CHECK(none.place_of(none.resolve(other, call)).function == "linear");
}

TEST_CASE("a tensor class that passes calls on is not the place of them") {
  CHECK(user_location({python("Wrapped.__torch_dispatch__", "/srv/me/wrapped.py"), python("attend")})
            .function == "attend");
  CHECK(user_location({python("Wrapped.__torch_function__", "/srv/me/wrapped.py")}).line == 7);
}

TEST_CASE("generated code is told of where it runs inside the user's frame") {
  const std::string packages = "/usr/lib/python3/site-packages/";
  for (const std::string& file :
       {std::string("<eval_with_key>.3"), std::string("/tmp/torchinductor_me/ab/cab.py"),
        std::string("torchinductor_me/ab/cab.py")}) {
    const std::vector<StackFrame> frames = {python("__call__", packages + "torch/_ops.py"),
                                            python("forward", file), python("attend"),
                                            python("run", "<eval_with_key>.4")};
    CHECK(user_location(frames).function == "attend");
    REQUIRE(generated_code(frames) != nullptr);
    CHECK(generated_code(frames)->file == file);
  }
  CHECK(generated_code({python("attend"), python("forward", "<eval_with_key>.3")}) == nullptr);
  CHECK(generated_code({python("linear", packages + "torch/nn.py"), python("cell", "<stdin>")}) == nullptr);
  CHECK(generated_code({python("step", "<string>")}) == nullptr);
  CHECK(generated_code({}) == nullptr);
}
