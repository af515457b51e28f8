import type { Slice } from '../slice.ts'
import { deviceCodeReactor } from './delete-expired.ts'
import { deviceRoutes } from './routes.ts'
import type { OpenSession } from './token.ts'

export const devices: Slice<{ openDeviceSession: OpenSession }> = {
  name: 'devices',
  routes: (deps, { openDeviceSession }) => deviceRoutes(deps, openDeviceSession),
  reactors: [deviceCodeReactor],
  kind: null,
  announces: {
    device: 'nothing',
  },
  unprojected: ['user.device_approved', 'user.device_denied'],
  tables: ['auth.device_code'],
  examples: {
    paths: { 'device.user_code': 'BCDF-GHJK' },
    bodies: {
      'POST /api/cli/device/token': { device_code: 'what POST /api/cli/device/code returned' },
    },
  },
}
