import type { ServerName } from './hosted.ts'
import { addressOf } from './rendezvous.ts'

// Run as `ahead.ts <server>`: starts the server of this run before the first test asks for it, which reports any fault.
await addressOf(process.argv[2] as ServerName).catch(() => {})
