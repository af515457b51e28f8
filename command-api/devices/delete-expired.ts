import type { Clock } from '../../platform/time.ts'
import { rows } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'

type Needed = { now: Clock }

/** Deletes device codes that have expired, decided or not, every hour. */
export const deviceCodeReactor = reactor<object, Needed>({
  name: 'device-codes',
  repeat: 'local',
  every: { seconds: 3600, payload: () => ({}) },
  perform: async (_, { now }) => [
    rows(tx => tx.query('delete from auth.device_code where expires_at <= $1', [now()])),
  ],
})
