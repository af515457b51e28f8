import type { Slice } from '../slice.ts'
import { type SessionPorts, sessionRoutes } from './routes.ts'

export const sessions: Slice<SessionPorts> = {
  name: 'sessions',
  routes: sessionRoutes,
  kind: null,
  announces: {
    failed_login: 'nothing',
  },
  unprojected: ['user.login_failed'],
  tables: [
    'auth.failed_login',
    'auth.refresh_token',
    'auth.session',
    'auth.sign_in_delay',
    'auth.sign_in_network',
  ],
  examples: {
    paths: { 'sessions.sid': 'ses_01J00000000000000000000000' },
    bodies: {
      'POST /api/auth/login': { username: 'ada', password: 'correct horse battery' },
      'POST /api/auth/confirm': { password: 'correct horse battery' },
      'POST /api/auth/password': {
        current: 'correct horse battery',
        new: 'staple of another horse',
      },
    },
  },
}
