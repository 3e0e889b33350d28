// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the records of foreign flushers: which one makes room, which
 * ones a flush starts, when a record ends, and the references that it holds.
 *
 * Included by mm/memcg_foreign.c.
 */
#include <kunit/test.h>

/* A memcg's records, a bdi, and one wb more than there are places. */
struct memcg_foreign_test {
	struct memcg_foreign	foreign;
	struct backing_dev_info	bdi;
	struct bdi_writeback	wbs[MEMCG_FOREIGN_MAX + 1];
};

static void memcg_foreign_test_work(struct work_struct *work)
{
}

static void memcg_foreign_test_release(struct percpu_ref *ref)
{
}

static int memcg_foreign_test_init(struct kunit *test)
{
	struct memcg_foreign_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	spin_lock_init(&t->foreign.lock);
	INIT_DELAYED_WORK(&t->foreign.work, memcg_foreign_test_work);
	kref_init(&t->bdi.refcnt);
	for (i = 0; i < ARRAY_SIZE(t->wbs); i++) {
		t->wbs[i].bdi = &t->bdi;
		set_bit(WB_registered, &t->wbs[i].state);
		if (percpu_ref_init(&t->wbs[i].refcnt, memcg_foreign_test_release,
				    PERCPU_REF_INIT_ATOMIC, GFP_KERNEL))
			return -ENOMEM;
	}
	return memcg_foreign_alloc(&t->foreign) ? 0 : -ENOMEM;
}

static void memcg_foreign_test_exit(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	int i;

	if (!t)
		return;
	cancel_delayed_work_sync(&t->foreign.work);
	for (i = 0; i < ARRAY_SIZE(t->wbs); i++)
		percpu_ref_exit(&t->wbs[i].refcnt);
	kfree(t->foreign.wbs);
}

/* References beside the first one, which a living wb has of its own. */
static long memcg_foreign_test_refs(struct bdi_writeback *wb)
{
	return atomic_long_read(&wb->refcnt.data->count) - 1;
}

static void memcg_foreign_test_add(struct kunit *test, int nr)
{
	struct memcg_foreign_test *t = test->priv;
	int i;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, memcg_foreign_add(&t->foreign, &t->wbs[i]));
	KUNIT_ASSERT_EQ(test, t->foreign.nr, nr);
	KUNIT_ASSERT_EQ(test, kref_read(&t->bdi.refcnt), nr + 1);
}

static struct memcg_foreign_wb *memcg_foreign_test_find(struct kunit *test, int i)
{
	struct memcg_foreign_test *t = test->priv;

	return memcg_foreign_find(&t->foreign, &t->wbs[i]);
}

/* The next wb of a flush, as an index, or -1. The record keeps its reference. */
static int memcg_foreign_test_flush(struct kunit *test, unsigned int *pos)
{
	struct memcg_foreign_test *t = test->priv;
	struct bdi_writeback *wb = __memcg_foreign_next(&t->foreign, pos, true);

	if (!wb)
		return -1;
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(wb), 2);
	memcg_foreign_put(wb);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(wb), 1);
	return wb - t->wbs;
}

/* The records in use stay the first ones. */
static void memcg_foreign_test_remove(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	struct bdi_writeback *wb;

	memcg_foreign_test_add(test, 3);
	/* A wb has one record. */
	KUNIT_EXPECT_TRUE(test, memcg_foreign_add(&t->foreign, &t->wbs[2]));
	KUNIT_EXPECT_EQ(test, t->foreign.nr, 3);

	spin_lock_irq(&t->foreign.lock);
	wb = memcg_foreign_remove(&t->foreign, &t->foreign.wbs[0]);
	spin_unlock_irq(&t->foreign.lock);
	KUNIT_EXPECT_PTR_EQ(test, wb, &t->wbs[0]);
	KUNIT_EXPECT_EQ(test, t->foreign.nr, 2);
	KUNIT_EXPECT_NULL(test, memcg_foreign_test_find(test, 0));
	KUNIT_EXPECT_PTR_EQ(test, memcg_foreign_test_find(test, 1), &t->foreign.wbs[1]);
	KUNIT_EXPECT_PTR_EQ(test, memcg_foreign_test_find(test, 2), &t->foreign.wbs[0]);

	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(wb), 1);
	memcg_foreign_put(wb);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(wb), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&t->bdi.refcnt), 3);
}

/* The record that was used first makes room, also where jiffies wrap. */
static void memcg_foreign_test_room(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	int i;

	memcg_foreign_test_add(test, MEMCG_FOREIGN_MAX);
	for (i = 0; i < MEMCG_FOREIGN_MAX; i++)
		t->foreign.wbs[i].at = i - 10UL;
	t->foreign.wbs[5].at = -11UL;

	KUNIT_EXPECT_TRUE(test, memcg_foreign_add(&t->foreign,
						  &t->wbs[MEMCG_FOREIGN_MAX]));
	KUNIT_EXPECT_EQ(test, t->foreign.nr, MEMCG_FOREIGN_MAX);
	KUNIT_EXPECT_NULL(test, memcg_foreign_test_find(test, 5));
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(&t->wbs[5]), 0);
	KUNIT_EXPECT_NOT_NULL(test, memcg_foreign_test_find(test, 0));
	KUNIT_EXPECT_NOT_NULL(test, memcg_foreign_test_find(test, MEMCG_FOREIGN_MAX));
}

/* A flush starts each wb once, and again if it could not, or for new pages. */
static void memcg_foreign_test_flushed(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	unsigned int pos = 0;

	memcg_foreign_test_add(test, 3);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 0);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 1);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 2);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), -1);

	pos = 0;
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), -1);

	memcg_foreign_use(memcg_foreign_test_find(test, 1));
	__memcg_foreign_retry(&t->foreign, &t->wbs[2]);
	__memcg_foreign_retry(&t->foreign, &t->wbs[3]);
	pos = 0;
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 1);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 2);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), -1);

	__memcg_foreign_retry(&t->foreign, NULL);
	pos = 0;
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 0);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 1);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), 2);
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_flush(test, &pos), -1);
}

/* The time of use is written once in MEMCG_FOREIGN_EXACT. */
static void memcg_foreign_test_use(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	struct memcg_foreign_wb *record = &t->foreign.wbs[0];
	unsigned long recent = jiffies + MEMCG_FOREIGN_EXACT;

	memcg_foreign_test_add(test, 1);
	record->at = recent;
	memcg_foreign_use(record);
	KUNIT_EXPECT_EQ(test, record->at, recent);

	record->at = jiffies - MEMCG_FOREIGN_EXACT - 1;
	memcg_foreign_use(record);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies - MEMCG_FOREIGN_EXACT, record->at));
}

/* A living wb's record ends by its age, whatever is left to write. */
static void memcg_foreign_test_age(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	struct memcg_foreign_wb *record = &t->foreign.wbs[0];
	unsigned long interval = msecs_to_jiffies(dirty_expire_interval * 10);

	memcg_foreign_test_add(test, 1);
	set_bit(WB_has_dirty_io, &t->wbs[0].state);
	record->at = jiffies - interval + 10 * HZ;
	KUNIT_EXPECT_FALSE(test, memcg_foreign_expired(record));
	record->at = jiffies - interval - 1;
	KUNIT_EXPECT_TRUE(test, memcg_foreign_expired(record));
}

/* That of a dying one ends when nothing is left to write. */
static void memcg_foreign_test_dying(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;
	struct bdi_writeback *wb = &t->wbs[0];

	memcg_foreign_test_add(test, 2);
	percpu_ref_kill(&wb->refcnt);
	set_bit(WB_has_dirty_io, &wb->state);
	KUNIT_EXPECT_FALSE(test, memcg_foreign_expired(&t->foreign.wbs[0]));
	clear_bit(WB_has_dirty_io, &wb->state);
	KUNIT_EXPECT_TRUE(test, memcg_foreign_expired(&t->foreign.wbs[0]));

	/* The bdi is unregistered. */
	KUNIT_EXPECT_FALSE(test, memcg_foreign_expired(&t->foreign.wbs[1]));
	clear_bit(WB_registered, &t->wbs[1].state);
	KUNIT_EXPECT_TRUE(test, memcg_foreign_expired(&t->foreign.wbs[1]));

	memcg_foreign_drop(&t->foreign);
	KUNIT_EXPECT_EQ(test, t->foreign.nr, 0);
	KUNIT_EXPECT_TRUE(test, percpu_ref_is_zero(&wb->refcnt));
	KUNIT_EXPECT_EQ(test, memcg_foreign_test_refs(&t->wbs[1]), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&t->bdi.refcnt), 1);
}

/* An offline memcg takes no record, and its work leaves its records to the heir. */
static void memcg_foreign_test_offline(struct kunit *test)
{
	struct memcg_foreign_test *t = test->priv;

	memcg_foreign_test_add(test, 2);
	t->foreign.offline = true;
	KUNIT_EXPECT_FALSE(test, memcg_foreign_add(&t->foreign, &t->wbs[2]));
	memcg_foreign_drop(&t->foreign);
	KUNIT_EXPECT_EQ(test, t->foreign.nr, 2);

	memcg_foreign_bequeath(&t->foreign, NULL);
	KUNIT_EXPECT_EQ(test, t->foreign.nr, 0);
	KUNIT_EXPECT_EQ(test, kref_read(&t->bdi.refcnt), 1);
}

static struct kunit_case memcg_foreign_cases[] = {
	KUNIT_CASE(memcg_foreign_test_remove),
	KUNIT_CASE(memcg_foreign_test_room),
	KUNIT_CASE(memcg_foreign_test_flushed),
	KUNIT_CASE(memcg_foreign_test_use),
	KUNIT_CASE(memcg_foreign_test_age),
	KUNIT_CASE(memcg_foreign_test_dying),
	KUNIT_CASE(memcg_foreign_test_offline),
	{}
};

static struct kunit_suite memcg_foreign_suite = {
	.name = "memcg_foreign",
	.init = memcg_foreign_test_init,
	.exit = memcg_foreign_test_exit,
	.test_cases = memcg_foreign_cases,
};

kunit_test_suite(memcg_foreign_suite);
