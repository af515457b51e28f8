export type Line = { seq: number; stream: string | null; text: string }

const maxLines = 2000

/** The newest lines of a log; scrolling up stops following it. */
export function logView(view: HTMLElement, following: HTMLInputElement) {
  let waiting: Line[] = []
  const toEnd = () => {
    if (following.checked) view.scrollTop = view.scrollHeight
  }
  view.addEventListener('scroll', () => {
    following.checked = view.scrollHeight - view.scrollTop - view.clientHeight < 24
  })
  following.addEventListener('change', toEnd)
  const flush = () => {
    const lines = waiting.slice(-maxLines)
    waiting = []
    view.append(...lines.map(toElement))
    while (view.childElementCount > maxLines) view.firstElementChild?.remove()
    toEnd()
  }
  return {
    add(line: Line) {
      if (waiting.length === 0) requestAnimationFrame(flush)
      waiting.push(line)
    },
  }
}

function toElement({ stream, text }: Line): HTMLElement {
  const line = document.createElement('div')
  if (stream === 'stderr') line.className = 'stderr'
  line.textContent = text === '' ? ' ' : text
  return line
}
