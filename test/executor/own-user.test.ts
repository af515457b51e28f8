import { isolationContract } from './isolation-contract.ts'

await isolationContract('user', 'a user for each run', {
  title: 'only root can give each run its own user',
  check: (t, reason) => t.not(process.getuid?.(), 0, reason),
})
