import { readFile } from 'node:fs/promises'
import { CannotStart } from '../../platform/cannot-start.ts'

/** The content of the file that a setting names. An empty one is refused: it would be an empty secret. */
export async function readSettingFile(setting: string, path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new CannotStart(`${setting}=${path} cannot be read: ${cause.message}`, cause)
  })
  if (text.trim() === '') throw new CannotStart(`${setting}=${path} is empty`)
  return text.trim()
}
