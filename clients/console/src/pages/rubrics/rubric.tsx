export function Page() {
  return <h1>Rubric</h1>
}
