// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/option_parser.hpp"

#include <gtest/gtest.h>

#include "fake_metrics.hpp"
#include "plan/feature_name.hpp"

namespace qc::test {
namespace {

/// Text of the failure, "" if the option was taken.
std::string try_option(const MetricDescriptor& metric, const char* name, const char* value) {
    OptionValues options(metric.options);
    const Status status = set_option(metric, name, value, UnknownOption::kError, &options);
    if (!status.ok()) {
        EXPECT_EQ(status.code(), QC_ERROR_INVALID);
        for (size_t i = 0; i < metric.options.size(); ++i) EXPECT_TRUE(options.is_default(i)) << "changed by a failure";
    }
    return status.text();
}

TEST(OptionParser, SetsValues) {
    OptionValues options(kAdm.options);
    ASSERT_TRUE(set_option(kAdm, "adm_enhn_gain_limit", "1.23456789", UnknownOption::kError, &options).ok());
    ASSERT_TRUE(set_option(kAdm, "adm_ref_display_height", "2160", UnknownOption::kError, &options).ok());
    ASSERT_TRUE(set_option(kAdm, "adm_skip_scale0", "true", UnknownOption::kError, &options).ok());
    EXPECT_EQ(options.number(5), 1.23457); // single precision and six digits on the way
    EXPECT_EQ(options.integer(7), 2160);
    EXPECT_TRUE(options.flag(10));
}

TEST(OptionParser, LimitsAreInclusive) {
    EXPECT_EQ(try_option(kAdm, "adm_enhn_gain_limit", "1"), "");
    EXPECT_EQ(try_option(kAdm, "adm_enhn_gain_limit", "100"), "");
    EXPECT_EQ(try_option(kAdm, "adm_enhn_gain_limit", "0.999"),
              "option adm_enhn_gain_limit of metric adm: \"0.999\" is not accepted, it takes a number from 1 to 100");
    EXPECT_NE(try_option(kAdm, "adm_enhn_gain_limit", "100.1"), "");
    EXPECT_NE(try_option(kAdm, "adm_ref_display_height", "4321"), "");
}

TEST(OptionParser, RefusesWhatIsNoValue) {
    for (const char* value : {"", "one", "1x", "nan", "inf", "0x10", "1,5", "true"})
        EXPECT_NE(try_option(kAdm, "adm_enhn_gain_limit", value), "") << value;
    EXPECT_EQ(try_option(kAdm, "adm_csf_mode", "1.5"),
              "option adm_csf_mode of metric adm: \"1.5\" is not accepted, it takes a whole number from 0 to 3");
    for (const char* value : {"1", "yes", "TRUE", ""})
        EXPECT_EQ(try_option(kAdm, "debug", value),
                  std::string("option debug of metric adm: \"") + value + "\" is not accepted, it takes true or false");
}

constexpr std::string_view kWays[] = {"nearest", "bilinear"};
constexpr OptionSpec kWordOptions[] = {
    {"speed_prescale_method", "psm", OptionType::kChoice, 0.0, 0.0, 1.0, "", kWays},
    {"heatmaps_path", "", OptionType::kText, 0.0, 0.0, 0.0, ""},
    number_option("speed_prescale", "ps", 1.0, 0.1, 4.0),
};

TEST(OptionParser, WordsAndTexts) {
    MetricDescriptor metric = kVif;
    metric.options = kWordOptions;
    OptionValues options(metric.options);
    ASSERT_TRUE(set_option(metric, "speed_prescale_method", "bilinear", UnknownOption::kError, &options).ok());
    ASSERT_TRUE(set_option(metric, "heatmaps_path", "1.50", UnknownOption::kError, &options).ok());
    ASSERT_TRUE(set_option(metric, "speed_prescale", "0.50", UnknownOption::kError, &options).ok());
    EXPECT_EQ(options.integer(0), 1);
    EXPECT_EQ(options.text(1), "1.50") << "texts are no numbers to normalise";
    EXPECT_EQ(option_suffix(options), "_ps_0.5_psm_bilinear");
    EXPECT_EQ(try_option(metric, "speed_prescale_method", "cubic"),
              "option speed_prescale_method of metric vif: \"cubic\" is not accepted, it takes nearest or bilinear");
}

TEST(OptionParser, UnknownOptionsListTheKnown) {
    EXPECT_EQ(try_option(kVif, "vif_gain", "1"),
              "metric vif has no option \"vif_gain\": it has debug, vif_enhn_gain_limit, vif_skip_scale0");
    OptionValues options(kVif.options);
    EXPECT_TRUE(set_option(kVif, "vif_gain", "1", UnknownOption::kIgnore, &options).ok());
    EXPECT_FALSE(set_option(kVif, "vif_enhn_gain_limit", "0", UnknownOption::kIgnore, &options).ok());
}

TEST(OptionParser, SplitsOutsideEscapesAndQuotes) {
    using Pieces = std::vector<std::string>;
    EXPECT_EQ(split_escaped("a|b+c", "|+"), (Pieces{"a", "b", "c"}));
    EXPECT_EQ(split_escaped("", "|"), (Pieces{""}));
    EXPECT_EQ(split_escaped("|", "|"), (Pieces{"", ""}));
    EXPECT_EQ(split_escaped(R"(a\|b|'c|d')", "|"), (Pieces{R"(a\|b)", "'c|d'"}));
    EXPECT_EQ(split_escaped("a\\", "|"), (Pieces{"a\\"}));
    EXPECT_EQ(split_escaped("'a|b", "|"), (Pieces{"'a|b"}));
    EXPECT_EQ(unescape(R"(a\|b'c:d'\\)"), R"(a|bc:d\)");
    EXPECT_EQ(unescape("a\\"), "a\\");
}

TEST(OptionParser, KeyValues) {
    const std::vector<KeyValue> pairs = parse_key_values(R"(path=/a\:b=c.json:name='x=y':bare:empty=)");
    ASSERT_EQ(pairs.size(), 4U);
    EXPECT_EQ(pairs[0].key, "path");
    EXPECT_EQ(pairs[0].value, "/a:b=c.json");
    EXPECT_EQ(pairs[1].value, "x=y");
    EXPECT_EQ(pairs[2].key, "bare");
    EXPECT_FALSE(pairs[2].has_value);
    EXPECT_TRUE(pairs[3].has_value);
    EXPECT_EQ(pairs[3].value, "");
}

} // namespace
} // namespace qc::test
