import { newCode, nextCode } from '../second-factors/authenticator.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Send } from './send.ts'

type Who = { token: string; password: string }

export const secondFactorSample: Sample = {
  slice: 'second-factors',
  make: async ({ owner }) => ({ fields: { password: owner.password } }),
  changes: {
    'POST /api/auth/totp': {
      body: ({ people }) => ({ password: people.operator.password }),
      leavesNoEvent: 'changes nothing before a code of the authenticator is confirmed',
    },
    'POST /api/auth/totp/confirm': {
      body: async ({ send, people: { operator } }) => ({
        code: newCode(await begin(send, operator)),
      }),
    },
    'POST /api/auth/totp/remove': {
      body: ({ people }) => ({ password: people.operator.password }),
    },
    'DELETE /api/admin/users/{username}/second-factor': { path: pathOfNewPerson },
  },
}

/** The secret of a new authenticator of this person. */
async function begin(send: Send, { password, ...person }: Who): Promise<string> {
  const { secret } = await asked<{ secret: string }>(send, person, {
    method: 'POST',
    path: '/api/auth/totp',
    body: { password },
  })
  return secret
}

async function pathOfNewPerson({ send, newPerson }: SampleServer): Promise<string> {
  const person = await newPerson('forgetful')
  const secret = await begin(send, person)
  await asked(send, person, {
    method: 'POST',
    path: '/api/auth/totp/confirm',
    body: { code: nextCode(secret) },
  })
  return `/api/admin/users/${person.username}/second-factor`
}
