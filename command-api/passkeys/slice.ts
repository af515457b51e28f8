import type { Slice } from '../slice.ts'
import type { PasskeyPorts } from './ports.ts'
import { passkeyRoutes } from './routes.ts'

const credential = {
  id: 'c2FtcGxl',
  rawId: 'c2FtcGxl',
  type: 'public-key',
  clientExtensionResults: {},
}

const signed = {
  credential: {
    ...credential,
    response: {
      clientDataJSON: 'eyJ0eXBlIjoi',
      authenticatorData: 'SZYN5YgO',
      signature: 'MEUCIQDx',
      userHandle: 'YWRh',
    },
  },
}

export const passkeys: Slice<PasskeyPorts> = {
  name: 'passkeys',
  routes: passkeyRoutes,
  kind: null,
  tables: ['auth.passkey', 'auth.passkey_challenge', 'auth.passkey_handle'],
  examples: {
    paths: { 'passkeys.passkey_id': 'pk_01J00000000000000000000000' },
    bodies: {
      'POST /api/auth/passkeys/sign-in': signed,
      'POST /api/auth/passkeys/confirm': signed,
      'POST /api/auth/passkeys': {
        name: 'Laptop',
        credential: {
          ...credential,
          response: { clientDataJSON: 'eyJ0eXBlIjoi', attestationObject: 'o2NmbXQ' },
        },
      },
    },
  },
}
