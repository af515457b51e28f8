import { theme } from '../design/theme.ts'

const curves = 10

const known = new Map<string, string>()

/** A colour token as canvases need it, in the current theme; read from the browser once, because that forces a layout. */
export function colourOf(token: string): string {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const name = `${document.documentElement.dataset.theme ?? ''} ${isDark} ${token}`
  const colour = known.get(name) ?? probed(token)
  known.set(name, colour)
  return colour
}

function probed(token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${token})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export const curveOf = (nth: number): string => colourOf(`curve-${(nth % curves) + 1}`)

/** The same colour, translucent. */
export function faint(colour: string, share: number): string {
  const [, inner] = /^rgba?\(([^)]+)\)$/.exec(colour) ?? []
  return inner
    ? `rgba(${inner
        .split(/[,/ ]+/)
        .slice(0, 3)
        .join(',')},${share})`
    : colour
}

/** Calls back when colours change, whether the user or the system changed them. */
export function onColours(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', changed)
  const leave = theme.subscribe(changed)
  return () => {
    system.removeEventListener('change', changed)
    leave()
  }
}
