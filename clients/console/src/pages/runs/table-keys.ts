/** Where the focus is: in the table or nowhere, on something else that can be pressed, or where somebody types. */
export type Place = 'table' | 'control' | 'field' | 'dialog'

export type TableKey = 'down' | 'up' | 'choose' | 'range' | 'open'

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

const letters: Readonly<Record<string, TableKey>> = {
  j: 'down',
  k: 'up',
  x: 'choose',
  X: 'range',
}
const others: Readonly<Record<string, TableKey>> = {
  ArrowDown: 'down',
  ArrowUp: 'up',
  Enter: 'open',
}

/** What a key means to the table; letters work wherever nobody types. */
export function tableKeyOf(press: Press, place: Place): TableKey | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null
  if (place === 'field' || place === 'dialog') return null
  return letters[press.key] ?? (place === 'table' ? (others[press.key] ?? null) : null)
}
