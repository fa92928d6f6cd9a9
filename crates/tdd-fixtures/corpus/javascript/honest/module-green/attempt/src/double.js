export default function double(n) {
  return n * 2;
}
