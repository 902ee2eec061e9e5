// SPDX-License-Identifier: BSD-2-Clause-Patent
// The main() of a program that has the tests of many files.
//
//   PROGRAM [NAME...] [options of GoogleTest]
//
// NAME is a file's, without "_test.cpp", or that of its folder: "vif" for all tests of a metric's folder, "log_writer"
// for one file of tests/unit. Without a name all tests run. --gtest_filter chooses among those of the files that are
// named.
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr int kWrongUse = 2;

/// Whether a test stands in a file or folder of this name.
bool stands_in(const testing::TestInfo& test, const std::string& name) {
    const std::filesystem::path file = test.file();
    return file.filename() == name + "_test.cpp" || file.parent_path().filename() == name;
}

template <class Visit>
void for_each_test(const Visit& visit) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) visit(*suite.GetTestInfo(j));
    }
}

std::string full_name(const testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
}

/// Two files with a test of the same name: a filter could not tell them apart, nor could who counts them.
bool has_doubles() {
    std::set<std::string> seen;
    bool found = false;
    for_each_test([&](const testing::TestInfo& test) {
        if (seen.insert(full_name(test)).second) return;
        std::fprintf(stderr, "%s: a second test of the name %s\n", test.file(), full_name(test).c_str());
        found = true;
    });
    return found;
}

/// Adds what the named files do not have to what the filter leaves out.
/// @return whether every name has tests
bool leave_out_others(const std::vector<std::string>& names) {
    std::set<std::string> found;
    std::string others;
    for_each_test([&](const testing::TestInfo& test) {
        bool chosen = false;
        for (const std::string& name : names) {
            if (!stands_in(test, name)) continue;
            chosen = true;
            found.insert(name);
        }
        if (!chosen) others += ":" + full_name(test);
    });
    for (const std::string& name : names)
        if (!found.contains(name)) std::fprintf(stderr, "no tests of the name %s\n", name.c_str());
    std::string& filter = testing::GTEST_FLAG(filter);
    if (filter.find('-') == std::string::npos) filter += "-";
    filter += others;
    return found.size() == std::set<std::string>(names.begin(), names.end()).size();
}

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv); // takes its options out
    if (has_doubles()) return kWrongUse;
    const std::vector<std::string> names(argv + 1, argv + argc);
    if (!names.empty() && !leave_out_others(names)) return kWrongUse;
    return RUN_ALL_TESTS();
}
