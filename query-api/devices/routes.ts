import type { Pool } from 'pg'
import { findDeviceRequest } from '../../auth/device-requests.ts'
import { type Route, route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import { deviceRequest, deviceRequestPath, toDeviceRequest } from '../../schemas/devices.ts'

/** `pool` can read the schema `auth`. */
export const deviceRoutes = (pool: Pool, now: Clock): Route[] => [
  route({
    method: 'GET',
    path: '/api/cli/device/{user_code}',
    credential: 'person',
    reach: 'all',
    tag: 'auth',
    summary: 'Who asks to sign in with this code, from where and since when',
    params: deviceRequestPath,
    response: deviceRequest,
    refusals: ['not_found', 'rate_limited'],
    handle: async ({ caller: { username }, params }) =>
      toDeviceRequest(await findDeviceRequest(pool, { username, now: now() }, params.user_code)),
  }),
]
