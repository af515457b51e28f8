import type { Passwords } from '../../auth/passwords.ts'
import type { UserEvent } from '../../events/users.ts'
import type { Announced, Slice } from '../slice.ts'
import { userRoutes } from './routes.ts'

export const users: Slice<{ passwords: Passwords }> = {
  name: 'users',
  routes: (deps, { passwords }) => userRoutes(deps, passwords),
  kind: null,
  announces: {
    user: {
      'user.created': 'none',
      'user.identity_linked': 'none',
      'user.login': 'none',
      'user.profile_changed': 'none',
      'user.session_confirmed': 'none',
      'user.role_kept': 'none',
      'user.recovery_code_used': 'none',
      'user.second_factor_set_up': 'access',
      'user.second_factor_removed': 'access',
      'user.enabled': 'access',
      'user.disabled': 'access',
      'user.role_changed': 'access',
      'user.password_changed': 'access',
      'user.password_reset': 'access',
      'user.logout': 'access',
      'user.session_revoked': 'access',
      'user.session_withdrawn': 'access',
      'user.refresh_reused': 'access',
    } satisfies Announced<UserEvent>,
  },
  unprojected: [
    'user.created',
    'user.identity_linked',
    'user.login',
    'user.password_changed',
    'user.role_changed',
    'user.disabled',
    'user.enabled',
    'user.password_reset',
    'user.profile_changed',
    'user.logout',
    'user.session_revoked',
    'user.session_confirmed',
    'user.refresh_reused',
    'user.session_withdrawn',
    'user.role_kept',
    'user.second_factor_set_up',
    'user.second_factor_removed',
    'user.recovery_code_used',
  ],
  tables: ['auth.person'],
  examples: {
    paths: { 'users.username': 'ada' },
    bodies: {
      'POST /api/admin/users': { username: 'ada', role: 'operator', display_name: 'Ada' },
      'PATCH /api/admin/users/{username}': { role: 'admin' },
    },
  },
}
