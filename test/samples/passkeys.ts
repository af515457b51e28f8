import { newAuthenticator } from '../passkeys/authenticator.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Send } from './send.ts'

type Options = Record<string, unknown> & { challenge: string; user: { id: string } }
type Who = { token: string }
type Registered = { passkey_id: string; recovery_codes: string[] }

const options = '/api/auth/passkeys/options'

export const passkeySample: Sample = {
  slice: 'passkeys',
  async make({ send, owner }) {
    const { body } = await newCredential(send, owner)
    const { passkey_id, recovery_codes } = await asked<Registered>(send, owner, {
      method: 'POST',
      path: '/api/auth/passkeys',
      body,
    })
    owner.recovery.push(...recovery_codes)
    return { nouns: { passkeys: { passkey_id } } }
  },
  missing: ({ nouns }) => ({
    nouns: { passkeys: { passkey_id: withoutOwner(nouns.passkeys?.passkey_id) } },
  }),
  hidden: ['passkeys'],
  lists: { '/api/auth/passkeys': 'the caller' },
  changes: {
    'POST /api/auth/passkeys/options': { leavesNoEvent: 'nothing is registered yet' },
    'POST /api/auth/passkeys': {
      body: async ({ send, people }) => (await newCredential(send, people.operator)).body,
    },
    'POST /api/auth/passkeys/sign-in/options': { leavesNoEvent: 'nobody is known yet' },
    'POST /api/auth/passkeys/sign-in': {
      body: server => proof(server, '/api/auth/passkeys/sign-in/options'),
    },
    'POST /api/auth/passkeys/confirm/options': { leavesNoEvent: 'nothing is confirmed yet' },
    'POST /api/auth/passkeys/confirm': {
      body: server => proof(server, '/api/auth/passkeys/confirm/options'),
    },
  },
}

async function newCredential(send: Send, who: Who) {
  const { instance } = await asked<{ instance: { console_url: string } }>(send, who, {
    method: 'GET',
    path: '/api/auth/config',
  })
  const authenticator = newAuthenticator(new URL(instance.console_url).origin)
  const begun = await asked<Options>(send, who, { method: 'POST', path: options })
  return { authenticator, body: { name: 'Laptop', credential: authenticator.register(begun) } }
}

/** The signature of a new passkey of the operator. */
async function proof({ send, people: { operator } }: SampleServer, path: string) {
  const { authenticator, body } = await newCredential(send, operator)
  await asked(send, operator, { method: 'POST', path: '/api/auth/passkeys', body })
  const begun = await asked<Options>(send, operator, { method: 'POST', path })
  return { credential: authenticator.sign(begun) }
}
