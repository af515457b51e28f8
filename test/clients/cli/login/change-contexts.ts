import { updateContexts, withContext } from '../../../../clients/cli/login/contexts.ts'

/** Adds contexts one after the other, and removes every second one again, as concurrent commands of one person do. */
const [path = '', name = '', count = ''] = process.argv.slice(2)
for (let n = 0; n < Number(count); n++) {
  const context = { host: 'https://forge.example', username: name, token: String(n) }
  await updateContexts(path, stored => withContext(stored, `${name}-${n}`, context))
  if (n % 2)
    await updateContexts(path, ({ current, contexts: { [`${name}-${n}`]: _, ...others } }) => ({
      current,
      contexts: others,
    }))
}
