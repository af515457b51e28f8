import { isolationContract } from './isolation-contract.ts'

await isolationContract('landlock', 'landlock', {
  title: 'this kernel has no Landlock',
  check: (t, reason) => t.regex(reason, /landlock/i),
})
