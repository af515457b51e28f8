-- PostgreSQL refuses a sum beyond the largest double, which would park an acknowledged report. It stays there instead,
-- as in platform/series/sum.ts.
create function add_saturated(a double precision, b double precision) returns double precision
language sql immutable parallel safe
return case
  when a > 0 and b >= '1.7976931348623157e308'::double precision - a then '1.7976931348623157e308'::double precision
  when a < 0 and b <= '-1.7976931348623157e308'::double precision - a then '-1.7976931348623157e308'::double precision
  else a + b
end;

create aggregate sum_saturated(double precision) (
  sfunc = add_saturated, stype = double precision, initcond = '0'
);
