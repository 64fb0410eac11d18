// SPDX-License-Identifier: Apache-2.0
// Notes, journal, recent list, settings.
#include "core/store/detail/database.h"
#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using base::ErrorCode;
using WorkspaceTest = StoreTest;

TEST_F(WorkspaceTest, notesAreWrittenEditedDeletedAndJournalled) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    const auto first = *store.addNote({id, "step:7", "look here"});
    const auto second = *store.addNote({id, "", "in general"});
    ASSERT_TRUE(ok(store.editNote(first, "looked")));
    ASSERT_EQ(store.notes(id)->size(), 2U);
    EXPECT_EQ(store.notes(id)->at(0).text, "looked");
    EXPECT_EQ(store.notes(id)->at(0).subject, "step:7");
    ASSERT_TRUE(ok(store.deleteNote(second)));
    EXPECT_EQ(store.notes(id)->size(), 1U);
    EXPECT_EQ(store.editNote(second, "x").error().code, ErrorCode::usage);
    EXPECT_EQ(store.deleteNote(second).error().code, ErrorCode::usage);
    EXPECT_FALSE(store.addNote({id + 1, "", "x"}).has_value());
    const auto journal = *store.journal(id, std::nullopt, 100);
    ASSERT_EQ(journal.size(), 5U);
    EXPECT_EQ(journal[4].action, "note deleted");
    EXPECT_EQ(journal[4].detail, "in general"); // the text survives where it cannot be removed
}

TEST_F(WorkspaceTest, journalPagesAndFilters) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(ok(store.appendJournal(std::nullopt, "opened", std::to_string(i))));
        ASSERT_TRUE(ok(store.appendJournal(id, "looked", std::to_string(i))));
    }
    EXPECT_EQ(store.journal(std::nullopt, std::nullopt, 100)->size(), 11U);
    EXPECT_EQ(store.journal(id, std::nullopt, 100)->size(), 6U);
    const auto page = *store.journal(std::nullopt, std::nullopt, 4);
    ASSERT_EQ(page.size(), 4U);
    EXPECT_EQ(store.journal(std::nullopt, page.back().id, 1)->at(0).id, page.back().id + 1);
    EXPECT_FALSE(page[1].audit.has_value());
    EXPECT_EQ(page[2].audit, id);
    EXPECT_EQ(page[2].owner, store::currentOwner());
}

TEST_F(WorkspaceTest, theDatabaseItselfRefusesToChangeTheJournal) {
    {
        auto store = open();
        ASSERT_TRUE(ok(store.appendJournal(std::nullopt, "opened", "truth")));
    }
    auto database = store::detail::Database::open(path(), store::detail::Database::Mode::readWrite);
    ASSERT_TRUE(ok(database));
    for (const auto* attack :
         {"UPDATE journal SET detail = 'lie'", "DELETE FROM journal", "DELETE FROM journal WHERE id = 1",
          "INSERT OR REPLACE INTO journal (id, at_ms, owner, action, detail) VALUES (1, 0, '', '', 'lie')",
          "REPLACE INTO journal (id, at_ms, owner, action, detail) VALUES (1, 0, '', '', 'lie')",
          "INSERT INTO journal (id, at_ms, owner, action, detail) VALUES (1, 0, '', '', 'lie') ON CONFLICT (id) DO "
          "UPDATE SET detail = 'lie'",
          "UPDATE OR REPLACE journal SET id = 1"}) {
        EXPECT_FALSE((*database)->execute(attack).has_value()) << attack;
    }
    auto query = (*database)->query("SELECT count(*), min(detail) FROM journal");
    ASSERT_TRUE(query->next().value_or(false));
    EXPECT_EQ(query->integer(0), 1);
    EXPECT_EQ(query->text(1), "truth");
}

TEST_F(WorkspaceTest, recentListIsNewestFirstWithoutDoubles) {
    auto store = open();
    for (const auto* file : {"a", "b", "c"}) {
        ASSERT_TRUE(ok(store.touchRecent(file, "submission", file)));
    }
    ASSERT_TRUE(ok(store.touchRecent("a", "order", "new title")));
    const auto recent = *store.recent(10);
    ASSERT_EQ(recent.size(), 3U);
    EXPECT_EQ(recent[0].path, "a");
    EXPECT_EQ(recent[0].kind, "order");
    EXPECT_EQ(recent[0].title, "new title");
    EXPECT_EQ(recent[1].path, "c");
    EXPECT_EQ(store.recent(1)->size(), 1U);
    ASSERT_TRUE(ok(store.forgetRecent("a")));
    EXPECT_EQ(store.recent(10)->front().path, "c");
}

TEST_F(WorkspaceTest, settings) {
    auto store = open();
    EXPECT_EQ(*store.setting("theme"), std::nullopt);
    ASSERT_TRUE(ok(store.setSetting("theme", "dark")));
    ASSERT_TRUE(ok(store.setSetting("theme", "light")));
    EXPECT_EQ(*store.setting("theme"), "light");
    EXPECT_EQ(open().setting("theme")->value(), "light"); // another connection sees it
}

} // namespace
} // namespace assay::test
