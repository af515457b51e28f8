import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'
import { asked, signIn } from './send.ts'

/** A spare session, which may be ended. */
export const sessionSample: Sample = {
  slice: 'sessions',
  async make({ send, owner }) {
    const spare = await signIn(send, owner)
    const sessions = await asked<{ sid: string; current: boolean }[]>(send, spare, {
      method: 'GET',
      path: '/api/auth/sessions',
    })
    const sid = String(sessions.find(({ current }) => current)?.sid)
    return {
      nouns: { sessions: { sid } },
      fields: { current: owner.password, password: owner.password },
    }
  },
  missing: ({ nouns }) => ({ nouns: { sessions: { sid: withoutOwner(nouns.sessions?.sid) } } }),
  hidden: ['sessions'],
  lists: { '/api/auth/sessions': 'the caller', '/api/auth/me': 'the caller' },
  changes: {
    'POST /api/auth/login': {
      body: ({ people: { operator } }) => ({
        username: operator.username,
        password: operator.password,
        code: operator.recovery.shift(),
      }),
    },
    'POST /api/auth/confirm': {
      body: ({ people: { operator } }) => ({
        password: operator.password,
        code: operator.recovery.shift(),
      }),
    },
    'POST /api/auth/refresh': {
      leavesNoEvent: 'continues a session whose beginning is recorded',
    },
    'POST /api/auth/password': {
      body: ({ people }) => ({
        current: people.operator.password,
        new: 'another password of the operator',
      }),
    },
  },
}
