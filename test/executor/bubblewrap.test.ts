import { isolationContract } from './isolation-contract.ts'

await isolationContract('bubblewrap', 'bubblewrap', {
  title: 'bubblewrap cannot be tried here',
  check(t, reason) {
    t.not(process.env.FORGE_TEST_BUBBLEWRAP, 'required', reason)
    t.regex(reason, /bwrap|bubblewrap|namespace|Operation not permitted/i)
  },
})
