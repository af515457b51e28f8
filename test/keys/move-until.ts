import { keyFolder } from '../../auth/key-folder.ts'
import { moveKeys } from '../../auth/key-table.ts'
import { createPool } from '../../platform/postgres/pool.ts'

/** Moves keys and stops before the second call of `step`, to be killed there. */
const [folder = '', url = '', secret = '', step] = process.argv.slice(2)
const store = await keyFolder(folder)
let calls = 0
const standStill = async (at: string) => {
  if (at !== step || ++calls < 2) return
  process.stdout.write('here\n')
  await new Promise(() => {})
}
const pool = createPool(url, { max: 1, applicationName: 'forge test' })
const stopping = {
  ...store,
  async read(kid: string) {
    await standStill('read')
    return store.read(kid)
  },
  async remove(kid: string) {
    await standStill('remove')
    return store.remove(kid)
  },
}
// A promise alone keeps no process alive.
setInterval(() => {}, 60_000)
await moveKeys(stopping, pool, secret)
