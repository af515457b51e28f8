import { accepted, authorized } from './session.ts'

type Options = {
  /** Whether it may be too large for a page to hold: then it goes straight to the disk where the browser can. */
  isLarge?: boolean
  /** Called with the number of bytes received so far. */
  onBytes?: (bytes: number) => void
}

/** Saves a response of the API as a file. The request carries the token, which a link could not. */
export async function download(
  path: string,
  name: string,
  { isLarge = false, onBytes = () => {} }: Options = {},
): Promise<void> {
  const file = isLarge ? await chosenFile(name) : undefined
  if (file === null) return
  const response = await authorized('GET', path, {})
  if (!response.ok) await accepted(response)
  const counted = response.body?.pipeThrough(counting(onBytes))
  if (file) await counted?.pipeTo(await file.createWritable())
  else save(name, await new Response(counted).blob())
}

type PickFile = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>

/** A file on the disk that the person chose; null if they cancelled, undefined where browsers lack support. */
async function chosenFile(name: string): Promise<FileSystemFileHandle | null | undefined> {
  const pick = (window as { showSaveFilePicker?: PickFile }).showSaveFilePicker
  try {
    return await pick?.({ suggestedName: name })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    throw error
  }
}

function counting(onBytes: (bytes: number) => void) {
  let bytes = 0
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.length
      onBytes(bytes)
      controller.enqueue(chunk)
    },
  })
}

function save(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Saves a text as a file. */
export const saveText = (name: string, text: string): void =>
  save(name, new Blob([text], { type: 'text/plain;charset=utf-8' }))
