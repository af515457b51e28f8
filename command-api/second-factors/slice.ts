import type { Slice } from '../slice.ts'
import { type SecondFactorPorts, secondFactorRoutes } from './routes.ts'

export const secondFactors: Slice<SecondFactorPorts> = {
  name: 'second-factors',
  routes: secondFactorRoutes,
  kind: null,
  tables: ['auth.recovery_code', 'auth.totp', 'auth.totp_begun'],
  examples: {
    bodies: {
      'POST /api/auth/totp': { password: 'correct horse battery' },
      'POST /api/auth/totp/confirm': { code: '287082' },
      'POST /api/auth/totp/remove': { password: 'correct horse battery' },
    },
  },
}
