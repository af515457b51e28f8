/** Series for each line: minimum, maximum, the line, and the smoothed line. */
export const seriesOfLine = 4
/** The series that the legend names. */
export const linePart = 2
