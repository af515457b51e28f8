/** How a text begins that a spreadsheet would run as a formula (OWASP, CSV injection), full-width forms included. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/

/**
 * A cell of a CSV file (RFC 4180). Texts that a spreadsheet would run as a formula get a leading `'`, whatever
 * column they are in. Numbers are never changed, so that `-0.5` stays a number.
 */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const inert = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** A line of a CSV file, without its line break. */
export const csvLine = (cells: readonly (string | number)[]): string => cells.map(csvCell).join(',')
