/** The focus: in the table or nowhere, on another control, or in a text field. */
export type Place = 'table' | 'control' | 'field' | 'dialog'

export type TableKey = 'down' | 'up' | 'choose' | 'range' | 'star' | 'open'

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

const letters: Readonly<Record<string, TableKey>> = {
  j: 'down',
  k: 'up',
  x: 'choose',
  X: 'range',
  '*': 'star',
}
const others: Readonly<Record<string, TableKey>> = {
  ArrowDown: 'down',
  ArrowUp: 'up',
  Enter: 'open',
}

/** The meaning of a key for the table; letters work unless somebody is typing. */
export function tableKeyOf(press: Press, place: Place): TableKey | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null
  if (place === 'field' || place === 'dialog') return null
  return letters[press.key] ?? (place === 'table' ? (others[press.key] ?? null) : null)
}
