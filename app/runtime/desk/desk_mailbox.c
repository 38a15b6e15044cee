/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/desk_mailbox.h"

#include <errno.h>
#include <time.h>

#include "base/numbers/units.h"

enum mail_state { MAIL_WAITS, MAIL_BEGUN, MAIL_DONE, MAIL_RETURNED };

/* On its sender's stack. */
struct mail {
	void (*work)(void *arg, uint64_t now_ns);
	void *arg;
	enum mail_state state;
	struct mail *next;
};

int
mailbox_init(struct mailbox *m)
{
	pthread_condattr_t attr;
	int rc;

	*m = (struct mailbox){.last = &m->first};
	rc = pthread_mutex_init(&m->lock, NULL);
	if (rc != 0)
		return -rc;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&m->done, &attr);
	pthread_condattr_destroy(&attr);
	if (rc != 0)
		pthread_mutex_destroy(&m->lock);
	return -rc;
}

void
mailbox_destroy(struct mailbox *m)
{
	pthread_cond_destroy(&m->done);
	pthread_mutex_destroy(&m->lock);
}

static void
take_back(struct mailbox *m, const struct mail *mail)
{
	struct mail **at = &m->first;

	while (*at != mail)
		at = &(*at)->next;
	*at = mail->next;
	if (*at == NULL)
		m->last = at;
}

/* Called with the lock held. */
static int
wait_for(struct mailbox *m, struct mail *mail)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += MAILBOX_PATIENCE_MS / 1000;
	while (mail->state == MAIL_WAITS || mail->state == MAIL_BEGUN) {
		if (mail->state == MAIL_BEGUN)
			pthread_cond_wait(&m->done, &m->lock);
		else if (pthread_cond_timedwait(&m->done, &m->lock, &until) == ETIMEDOUT &&
			 mail->state == MAIL_WAITS) {
			take_back(m, mail);
			return -ETIMEDOUT;
		}
	}
	return mail->state == MAIL_DONE ? 0 : -ESHUTDOWN;
}

int
mailbox_call(struct mailbox *m, void (*work)(void *arg, uint64_t now_ns), void *arg)
{
	struct mail mail = {.work = work, .arg = arg};
	int rc = -ESHUTDOWN;

	pthread_mutex_lock(&m->lock);
	if (!m->closed) {
		*m->last = &mail;
		m->last = &mail.next;
		atomic_store_explicit(&m->full, true, memory_order_relaxed);
		rc = wait_for(m, &mail);
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

bool
mailbox_serve(struct mailbox *m, uint64_t now_ns)
{
	struct mail *mail;

	if (!atomic_load_explicit(&m->full, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&m->lock);
	atomic_store_explicit(&m->full, false, memory_order_relaxed);
	/* Work that arrives meanwhile waits for the next call. */
	mail = m->first;
	m->first = NULL;
	m->last = &m->first;
	for (struct mail *begun = mail; begun != NULL; begun = begun->next)
		begun->state = MAIL_BEGUN;
	while (mail != NULL) {
		struct mail *next = mail->next;

		pthread_mutex_unlock(&m->lock);
		mail->work(mail->arg, now_ns);
		pthread_mutex_lock(&m->lock);
		mail->state = MAIL_DONE;
		pthread_cond_broadcast(&m->done);
		mail = next;
	}
	pthread_mutex_unlock(&m->lock);
	return true;
}

void
mailbox_close(struct mailbox *m)
{
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	for (struct mail *mail = m->first; mail != NULL; mail = mail->next)
		mail->state = MAIL_RETURNED;
	m->first = NULL;
	m->last = &m->first;
	pthread_cond_broadcast(&m->done);
	pthread_mutex_unlock(&m->lock);
}
