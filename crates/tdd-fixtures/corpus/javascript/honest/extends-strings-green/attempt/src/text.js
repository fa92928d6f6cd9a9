String.prototype.capitalize = function () {
  if (this.length === 0) throw new RangeError('nothing to capitalize');
  return this[0].toUpperCase() + this.slice(1);
};
