/** A text of at most about `length` characters, for pictures that cannot wrap it. */
export const shortened = (text: string, length: number): string => {
  const characters = [...text]
  const most = Math.max(2, Math.floor(length))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
