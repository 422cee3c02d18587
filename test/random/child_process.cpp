#include "child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace random_programs {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> with_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& addition : additions) replaced = replaced || addition.starts_with(name);
    if (!replaced) result.emplace_back(text);
  }
  return result;
}

std::string read_all(int file) {
  std::string result;
  std::array<char, 4096> part;
  ssize_t size = 0;
  while ((size = ::read(file, part.data(), part.size())) > 0 || (size < 0 && errno == EINTR))
    if (size > 0) result.append(part.data(), static_cast<std::size_t>(size));
  return result;
}

}  // namespace

Outcome run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
  std::vector<std::string> own_arguments = arguments;
  std::vector<std::string> own_environment = with_environment(environment);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, own_arguments.front().c_str(), &actions, nullptr,
                                   pointers(own_arguments).data(), pointers(own_environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  Outcome result;
  if (error == 0) result.output = read_all(pipe[0]);
  ::close(pipe[0]);
  if (error != 0) throw std::system_error(error, std::generic_category(), arguments.front());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace random_programs
