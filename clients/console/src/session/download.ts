import { accepted, authorized } from './session.ts'

/** Saves what a path of the API answers as a file. The request bears the token, which a link could not. */
export async function download(path: string, name: string): Promise<void> {
  const response = await authorized('GET', path, {})
  if (!response.ok) await accepted(response)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Saves a text as a file. */
export function saveText(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
