import { colourOf } from './colours.ts'

/**
 * Saves a chart as a picture, on the background of its panel and with its title. Fails where the browser lacks the memory
 * for it.
 */
export async function saveImage(canvas: HTMLCanvasElement, title: string): Promise<void> {
  const ratio = devicePixelRatio
  const picture = document.createElement('canvas')
  picture.width = canvas.width
  picture.height = canvas.height + 28 * ratio
  const pen = picture.getContext('2d')
  if (!pen) throw new Error('This browser cannot draw the picture')
  pen.fillStyle = colourOf('panel')
  pen.fillRect(0, 0, picture.width, picture.height)
  pen.fillStyle = colourOf('text')
  pen.font = `${14 * ratio}px system-ui`
  pen.fillText(title, 10 * ratio, 19 * ratio)
  pen.drawImage(canvas, 0, 28 * ratio)
  const blob = await new Promise<Blob | null>(drawn => picture.toBlob(drawn))
  if (!blob) throw new Error('The picture is too large for this browser')
  save(blob, `${title.replaceAll(/[^\w.-]+/g, '_')}.png`)
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
