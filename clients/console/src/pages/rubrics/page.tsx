export function Page() {
  return <h1>Rubrics</h1>
}
